import { ERROR_CODES } from "../errors.ts";

/** Stands for everything that is not on a list: whoever may enqueue must not be able to make time series. */
export const OTHER = "other";

/** An error code of the registry; `none` without one. */
export function codeLabel(code: string | null): string {
  if (code === null || code === "") return "none";
  return Object.hasOwn(ERROR_CODES, code) ? code : OTHER;
}
