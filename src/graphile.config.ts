import { PosthastePreset } from "posthaste";

// This repository's own configuration, for `demo` and `dev`.
const preset: GraphileConfig.Preset = {
  extends: [PosthastePreset],
  posthaste: {
    from: "Posthaste Demo <no-reply@shop.example>",
    emails: "../emails",
    environment: "development",
  },
};

export default preset;
