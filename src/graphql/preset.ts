import "postgraphile";
import { AttemptsPlugin } from "./attempts.ts";
import { EmailPlugin } from "./email.ts";
import { EmailActionsPlugin } from "./email-actions.ts";
import { EmailLookupPreset } from "./email-lookup.ts";
import { EmailsPlugin } from "./emails.ts";
import { FilterPlugin } from "./filter.ts";
import { MatchingActionsPlugin } from "./matching-actions.ts";
import { OperatorActionsPlugin } from "./operator-actions.ts";
import { QueuePlugin } from "./queue.ts";
import { RecipientsPlugin } from "./recipients.ts";
import { RefusalPlugin } from "./refusal.ts";
import { RenderedEmailPreset } from "./rendered.ts";
import { TransportActionsPlugin } from "./transport-actions.ts";

/** All of Posthaste's plugins for PostGraphile; exported to applications as PosthasteGraphilePreset. */
export const GraphilePreset: GraphileConfig.Preset = {
  extends: [EmailLookupPreset, RenderedEmailPreset],
  plugins: [
    FilterPlugin,
    EmailPlugin,
    EmailsPlugin,
    AttemptsPlugin,
    RecipientsPlugin,
    QueuePlugin,
    OperatorActionsPlugin,
    RefusalPlugin,
    EmailActionsPlugin,
    MatchingActionsPlugin,
    TransportActionsPlugin,
  ],
};
