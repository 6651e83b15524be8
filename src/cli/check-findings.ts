import { PosthasteError } from "../errors.ts";

/** One thing that `posthaste check` looked at. */
export interface Finding {
  /** False for an error; a warning is ok. */
  readonly ok: boolean;
  /** It works, but an author should look at it. */
  readonly warning?: true;
  /** What was looked at: `configuration`, `database`, `template order-confirmed`, `transport default`. */
  readonly subject: string;
  /** What was found, or what is wrong; on one line. */
  readonly detail: string;
  /** What to do about it, when the detail does not say. */
  readonly hint: string | null;
}

/** Something is as it should be. */
export function fine(subject: string, detail: string): Finding {
  return { ok: true, subject, detail, hint: null };
}

/** Something is wrong. */
export function wrong(subject: string, detail: string, hint: string | null = null): Finding {
  return { ok: false, subject, detail: detail.replace(/\s*\n\s*/g, " "), hint };
}

/** Something works, but is probably not meant. */
export function doubtful(subject: string, detail: string, hint: string | null = null): Finding {
  return { ...wrong(subject, detail, hint), ok: true, warning: true };
}

/** What a PosthasteError says about the subject; any other error is thrown on. */
export function asFinding(subject: string): (error: unknown) => Finding {
  return (error) => {
    if (error instanceof PosthasteError) return wrong(subject, error.message);
    throw error;
  };
}
