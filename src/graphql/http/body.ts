import type { IncomingMessage } from "node:http";
import { Refused } from "./refused.ts";

/** Octets of a request at most. Enough for parameters of 64 KiB in JSON. */
export const MOST_OCTETS = 100_000;

/** A GraphQL request as it came in. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | null;
}

/** Reads one GraphQL request in JSON. Throws a refusal (413, 415, 400) for anything else. */
export async function readBody(request: IncomingMessage): Promise<GraphQLRequest> {
  const {
    "content-type": type = "",
    "content-encoding": encoding,
    "content-length": length,
  } = request.headers;
  // A form, or text, a page of any origin could send without being asked.
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type) || encoding !== undefined) {
    throw new Refused(415, "Send JSON: Content-Type must be application/json, uncompressed.");
  }
  if (Number(length ?? 0) > MOST_OCTETS) throw tooLarge();
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > MOST_OCTETS) throw tooLarge();
    chunks.push(chunk);
  }
  return parse(Buffer.concat(chunks).toString("utf8"));
}

function tooLarge(): Refused {
  return new Refused(413, `A request is at most ${MOST_OCTETS} octets.`, { Connection: "close" });
}

function parse(text: string): GraphQLRequest {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refused(400, "The request is not JSON.");
  }
  // A list would be several requests in one.
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refused(400, 'The request must be an object: {"query": "…", "variables": {…}}.');
  }
  const { query, variables, operationName } = body as Record<string, unknown>;
  if (typeof query !== "string") throw new Refused(400, "`query` must be a string.");
  if (
    variables !== undefined &&
    variables !== null &&
    (typeof variables !== "object" || Array.isArray(variables))
  ) {
    throw new Refused(400, "`variables` must be an object.");
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string") {
    throw new Refused(400, "`operationName` must be a string.");
  }
  return {
    query,
    variables: (variables ?? {}) as Record<string, unknown>,
    operationName: operationName ?? null,
  };
}
