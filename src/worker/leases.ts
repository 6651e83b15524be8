import type { ClaimedEmail, Lease } from "../database/store.ts";
import { reached } from "./crash-point.ts";
import { createGroup } from "./group.ts";

/** After a yes the dot must follow within this time, or within the lease: a process that was stopped in between must not write it. */
const DOT_WITHIN = 5_000;

/** May the final dot be written, and until when. */
export type HandOverAnswer =
  | { readonly granted: true; readonly notAfter: number; readonly notAfterWall: number }
  | { readonly granted: false };

/** A lease of a mail that is being sent. */
export interface HeldLease extends Lease {
  /** Aborted when the lease is lost or the worker gives the mail back. */
  readonly signal: AbortSignal;
  /** Marks the mail as being handed over. Asked just before the final dot. */
  handOver(): Promise<HandOverAnswer>;
  /** Whether the hand-over was granted. */
  readonly handedOver: boolean;
  /** No more renewals. */
  drop(): void;
}

/** The leases of this process. */
export interface Leases {
  hold(email: ClaimedEmail): HeldLease;
  /** Aborts everything: what was not handed over can be given back, of the rest the outcome is unknown. */
  breakOff(): void;
  close(): void;
}

interface Held extends Lease {
  readonly controller: AbortController;
  handedOver: boolean;
}

/** How long the database may be silent, in milliseconds: a renewal on another connection must still come in time. */
export function patienceFor(lease: number): number {
  return Math.max(5_000, lease / 3);
}

/**
 * Renews the leases of everything in flight together, and groups hand-overs.
 * @param options.extend asks the database which of these leases still hold
 * @param options.lease milliseconds; renewed each third of it
 */
export function createLeases(options: {
  extend: (leases: readonly Lease[], handOver: boolean) => Promise<Set<string>>;
  lease: number;
  onError: (error: unknown) => void;
}): Leases {
  const held = new Map<string, Held>();
  const dotWithin = Math.min(DOT_WITHIN, options.lease);

  const handOver = createGroup<Held, boolean>(
    async (items) => {
      const granted = await options.extend(items, true);
      return items.map(({ id }) => granted.has(id));
    },
    { most: 500 },
  );

  const timer = setInterval(renew, options.lease / 3);
  let renewing = false;
  async function renew(): Promise<void> {
    if (renewing || held.size === 0) return;
    renewing = true;
    const asked = [...held.values()];
    try {
      const kept = await options.extend(asked, false);
      // After the hand-over nothing is to be gained by aborting: the reply is evidence, whoever holds the row.
      for (const lease of asked) if (!kept.has(lease.id) && !lease.handedOver) lease.controller.abort();
    } catch (error) {
      // Not a loss: the hand-over asks again, and without an answer nothing is sent.
      options.onError(error);
    } finally {
      renewing = false;
    }
  }

  return {
    hold(email) {
      const lease: Held = {
        id: email.id,
        token: email.lease_token,
        controller: new AbortController(),
        handedOver: false,
      };
      held.set(lease.token, lease);
      return {
        id: lease.id,
        token: lease.token,
        signal: lease.controller.signal,
        get handedOver() {
          return lease.handedOver;
        },
        async handOver() {
          reached("before_hand_over");
          const notAfter = performance.now() + dotWithin;
          const notAfterWall = Date.now() + dotWithin;
          if (lease.controller.signal.aborted || !(await handOver(lease))) return { granted: false };
          lease.handedOver = true;
          reached("after_hand_over");
          return { granted: true, notAfter, notAfterWall };
        },
        drop: () => held.delete(lease.token),
      };
    },
    breakOff() {
      for (const lease of held.values()) lease.controller.abort();
    },
    close: () => clearInterval(timer),
  };
}
