/** `2026-08-01 22:14:03Z (3 min ago)`: a time for somebody who reads logs and a clock at once. Local time zone. */
export function when(time: Date | string, now: number = Date.now()): string {
  const date = new Date(time);
  const distance = date.getTime() - now;
  const relative =
    Math.abs(distance) < 1_000 ? "now" : distance < 0 ? `${span(-distance)} ago` : `in ${span(distance)}`;
  return `${timestamp(date)} (${relative})`;
}

/** `since 3 min (2026-08-01 22:14:03Z)`. */
export function since(time: Date | string, now: number = Date.now()): string {
  const date = new Date(time);
  return `since ${span(Math.max(0, now - date.getTime()))} (${timestamp(date)})`;
}

/** Milliseconds as people say them: `80 ms`, `45 s`, `12 min`, `7 h`, `3 days`. */
export function span(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

function timestamp(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const local = new Date(date.getTime() + offset * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${zone(offset)}`;
}

function zone(minutes: number): string {
  if (minutes === 0) return "Z";
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}
