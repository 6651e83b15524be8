/** The Relay id of a mail, as PostGraphile's own codec `base64JSON` writes it. */
export function encodeNodeId(id: string | null): string | null {
  return id === null ? null : Buffer.from(JSON.stringify(["Email", id])).toString("base64");
}

/** Whether this is a mail's id inside a Relay id: of another type, or made up, it is none. */
export function isEmailSpecifier(value: unknown): value is readonly ["Email", string] {
  return Array.isArray(value) && value.length === 2 && value[0] === "Email" && isUuid(value[1]);
}

/** Whether this can be the id of a mail. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
