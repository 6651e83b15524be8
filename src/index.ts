export type { MetricsOptions } from "./configuration/metrics-options.ts";
export type {
  BreakerOptions,
  Duration,
  PosthasteOptions,
  RetentionOptions,
  RetryOptions,
  StoreOptions,
  TimeoutOptions,
  TransportOptions,
} from "./configuration/options.ts";
export { PosthasteGraphilePreset } from "./graphile-preset.ts";
export { PosthastePreset } from "./preset.ts";
export { purgeEmails } from "./worker/purge-emails.ts";
export { sendEmail } from "./worker/send-email.ts";
