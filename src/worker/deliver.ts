import type { ClaimedEmail, Outcome, Store } from "../database/store.ts";
import { type AttemptTools, attempt } from "./attempt.ts";
import type { Breaker } from "./breaker.ts";
import { reached } from "./crash-point.ts";
import { createGroup } from "./group.ts";
import type { Leases } from "./leases.ts";
import type { Recorder } from "./recorder.ts";

/** What the path of one email needs. */
export interface DeliveryTools extends AttemptTools {
  readonly store: Store;
  readonly leases: Leases;
  readonly recorder: Recorder;
  readonly breaker: Breaker;
}

/**
 * Takes one email on its way. `probing` names a transport whose open breaker this mail is to try. Resolves with whether
 * the mail server was asked.
 */
export type Deliver = (id: string, probing?: string) => Promise<boolean>;

/**
 * The path of one email: claim → attempt → record. Resolves when its outcome is written or kept, also when there was
 * nothing to do, because another worker has it or it is not due. Rejects when the database cannot be asked.
 */
export function createDeliver(tools: DeliveryTools): Deliver {
  const claimTogether = createGroup<string, ClaimedEmail | undefined>(
    async (ids) => {
      const began = performance.now();
      const claimed = await tools.store.claim(ids, null);
      tools.instruments.claimed(performance.now() - began, claimed.map(waited));
      const byId = new Map(claimed.map((email) => [email.id, email]));
      return ids.map((id) => byId.get(id));
    },
    // Two jobs of one mail: the second finds it taken.
    { most: 100, keyOf: (id) => id },
  );

  return async (id, probing) => {
    const email =
      probing === undefined ? await claimTogether(id) : (await tools.store.claim([id], probing))[0];
    if (!email) return false;
    reached("after_claim");
    const lease = tools.leases.hold(email);
    try {
      const { ending, transport } = await attempt(email, lease, tools);
      reached("after_reply");
      const outcome: Outcome = { id, token: email.lease_token, ...ending };
      await tools.recorder.record(outcome);
      reached("after_record");
      if (transport) {
        await tools.breaker.report(transport.name, transport.verdict, email, probing !== undefined);
      }
      return transport !== null;
    } finally {
      lease.drop();
    }
  };
}

/** Milliseconds from the time when it was due to its claim, both by the database's clock. */
function waited({ next_attempt_at: due, locked_at: claimed }: ClaimedEmail): number {
  return claimed.getTime() - due.getTime();
}
