export type {
  BreakerOptions,
  Duration,
  PosthasteOptions,
  RetryOptions,
  StoreOptions,
  TimeoutOptions,
  TransportOptions,
} from "./configuration/options.ts";
export { PosthastePreset } from "./preset.ts";
export { PosthasteGraphilePreset } from "./graphile-preset.ts";
export { sendEmail } from "./worker/send-email.ts";
