import type { Lease, Told } from "./state.ts";

/** How an attempt ends, as far as what happened leaves it open. */
export interface Ending {
  readonly way: number;
  /** Whom the server refused for good, of those that it did not accept. */
  readonly refused: number;
  /** Seconds that the server asked to wait; 0: none named. */
  readonly wait: number;
}

type Shape = Pick<Told, "kind" | "refund" | "phase" | "smtp_code" | "error_code">;

const shape = (
  kind: Told["kind"],
  refund: Told["refund"],
  phase: string | null,
  smtp_code: number | null,
  error_code: string | null,
): Shape => ({ kind, refund, phase, smtp_code, error_code });

const brokenOff = (phase: string) => shape("retry", "unproven", phase, 421, "transport_unavailable");
const BEFORE_THE_DOT: readonly Shape[] = [
  shape("released", "yes", null, null, null),
  shape("retry", "yes", "connect", null, "transport_unavailable"),
  brokenOff("data"),
  shape("retry", "no", "data", 451, "message_deferred"),
  shape("failed", "no", "render", null, "render_failed"),
  shape("failed", "no", "data", 554, "message_refused"),
];
const REFUSED_AFTER_IT: readonly Shape[] = [
  shape("unknown", "no", "final_dot", null, "outcome_unknown"),
  shape("retry", "no", "final_dot", 451, "message_deferred"),
  shape("failed", "no", "final_dot", 554, "message_refused"),
];
const UNKNOWN = shape("unknown", "no", "final_dot", null, "outcome_unknown");

/** Mail to many is what the server mostly does not bear, so that some is broken off again and again. */
export function isUnbearable({ addresses }: Pick<Lease, "addresses">): boolean {
  return addresses.length > 2;
}

/** What a worker that keeps to the rules tells of this attempt: what it saw of the truth, or that it saw nothing. */
export function outcomeFor(lease: Lease, ending: Ending): Told {
  const { envelope, truth, granted } = lease;
  const rest = envelope.filter((address) => !truth.includes(address));
  const refused = rest.filter((_, n) => (ending.refused >> n) & 1);
  const deferred = rest.length > refused.length;
  const told = (shape: Shape, refused: readonly string[], accepted: readonly string[] = []): Told => ({
    id: lease.id,
    token: lease.token,
    wait: shape.kind === "retry" && ending.wait > 0 ? ending.wait * 1000 : null,
    ...shape,
    transport: "default",
    on_unknown_outcome: lease.secret ? "fail" : null,
    accepted: positionsOf(lease, accepted),
    refused: Object.fromEntries(
      positionsOf(lease, refused).map((position) => [position, { code: 550, enhanced: "5.1.1", text: "no" }]),
    ),
  });

  if (granted && truth.length > 0) {
    if (ending.way % 3 === 0) return told(UNKNOWN, []);
    if (deferred) return told(shape("retry", "no", "rcpt", 450, "recipient_deferred"), refused, truth);
    return told(
      shape("sent", "no", "final_dot", 250, refused.length > 0 ? "recipient_refused" : null),
      refused,
      truth,
    );
  }
  if (isUnbearable(lease) && ending.way > 2) return told(brokenOff(granted ? "final_dot" : "data"), []);
  if (granted) return told(REFUSED_AFTER_IT[ending.way % REFUSED_AFTER_IT.length] as Shape, []);
  // At RCPT: some refused, and the rest put off, or all refused.
  if (refused.length > 0 && ending.way % 2 === 0) {
    if (deferred) return told(shape("retry", "no", "rcpt", 450, "recipient_deferred"), refused);
    return told(shape("failed", "no", "rcpt", 550, "recipient_refused"), refused);
  }
  return told(BEFORE_THE_DOT[ending.way % BEFORE_THE_DOT.length] as Shape, []);
}

function positionsOf({ addresses }: Lease, named: readonly string[]): number[] {
  return addresses.flatMap((address, index) => (named.includes(address) ? [index + 1] : []));
}
