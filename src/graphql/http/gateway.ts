import { GrafservBase } from "postgraphile/grafserv";
import type { GraphQLRequest } from "./body.ts";
import type { Identity } from "./identity.ts";

/** What to send back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/**
 * PostGraphile's server without its HTTP part: ours checks a request before, and PostGraphile gets what has passed. It must
 * be closed with `release`.
 */
export class Gateway extends GrafservBase {
  /** Runs an operation as this identity. */
  execute(request: GraphQLRequest, identity: Identity, accept: string): Promise<Answer> {
    return this.#process(
      "POST",
      "/graphql",
      { accept, "content-type": "application/json" },
      request,
      identity,
    );
  }

  /** GraphiQL's page and what belongs to it. It knows nothing of the data. */
  page(path: string): Promise<Answer> {
    return this.#process("GET", path, { accept: "text/html" }, null, null);
  }

  async #process(
    method: string,
    path: string,
    headers: Record<string, string>,
    request: GraphQLRequest | null,
    identity: Identity | null,
  ): Promise<Answer> {
    const json = request && {
      query: request.query,
      variables: request.variables as never,
      ...(request.operationName !== null && { operationName: request.operationName }),
    };
    const result = await this.processRequest({
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      isSecure: false,
      method,
      path,
      headers,
      getQueryParams: () => ({}),
      getBody: () => ({ type: "json", json }),
      requestContext: identity === null ? {} : { posthasteIdentity: identity },
      preferJSON: true,
    });
    switch (result?.type) {
      case "json":
        return {
          status: isUnavailable(result.json) ? 503 : result.statusCode,
          headers: result.headers,
          body: JSON.stringify(result.json),
        };
      case "buffer":
        return { status: result.statusCode, headers: result.headers, body: result.buffer };
      case "error":
        throw result.error;
      default:
        return {
          status: 404,
          headers: { "Content-Type": "text/plain; charset=utf-8" },
          body: "Not found.\n",
        };
    }
  }
}

/** Nothing could be answered, because the database is not there: balancers and clients that try again go by the status. */
function isUnavailable(json: unknown): boolean {
  const { data, errors = [] } = Object(json) as {
    data?: Readonly<Record<string, unknown>> | null;
    errors?: readonly { readonly extensions?: { readonly code?: unknown } }[];
  };
  const nothing = Object.values(data ?? {}).every((value) => value === null);
  return nothing && errors.some(({ extensions }) => extensions?.code === "UNAVAILABLE");
}
