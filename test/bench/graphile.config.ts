import { PosthastePreset } from "posthaste";
import { FROM } from "./mail.ts";

// Nothing but what has no default: the benchmark measures the defaults.
const preset: GraphileConfig.Preset = {
  extends: [PosthastePreset],
  posthaste: { from: FROM, emails: "../../emails" },
};

export default preset;
