import type { IncomingMessage, ServerResponse } from "node:http";
import { describeError, type Log } from "../../log.ts";
import type { Expose } from "../../metrics/metrics.ts";
import { authenticate, type Gatekeeper } from "./authenticate.ts";
import { readBody } from "./body.ts";
import type { Answer, Gateway } from "./gateway.ts";
import type { Readiness } from "./health.ts";
import { checkLimits } from "./limits.ts";
import { checkOrigin, type OriginRules } from "./origin.ts";
import { Refused } from "./refused.ts";

/** What answers requests. */
export interface HandlerParts {
  readonly gateway: Gateway;
  readonly gatekeeper: Gatekeeper;
  readonly origins: OriginRules;
  readonly graphiql: boolean;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Expose;
  readonly log: Log;
}

/** Answers one request; never rejects. */
export function createHandler(parts: HandlerParts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let answer: Answer;
    try {
      answer = await answerTo(request, parts);
    } catch (error) {
      answer = error instanceof Refused ? refusal(error) : failure(error, parts.log);
    }
    if (response.destroyed) return;
    const body = Buffer.from(answer.body);
    response.statusCode = answer.status;
    // One by one, so that a name in other letters takes the place of the former.
    for (const [name, value] of Object.entries({ ...SECURITY, ...answer.headers }))
      response.setHeader(name, value);
    response.setHeader("Content-Length", body.length);
    response.end(request.method === "HEAD" ? undefined : body);
    // The rest of a body that nobody wants.
    if (!request.complete) request.destroy();
  };
}

async function answerTo(request: IncomingMessage, parts: HandlerParts): Promise<Answer> {
  const path = (request.url ?? "/").replace(/[?#].*$/s, "");
  const { method = "" } = request;
  if (path === "/livez" || path === "/readyz") return health(path, method, parts.readiness);
  if (path === "/graphql") return graphql(request, parts);
  if (path === "/metrics") return metrics(request, parts);
  if (parts.graphiql && (path === "/graphiql" || path.startsWith("/ruru-static/"))) {
    checkOrigin(request, parts.origins);
    allow(method, "GET");
    return withPolicy(await parts.gateway.page(path));
  }
  throw new Refused(404, "There are /graphql, /metrics, /livez and /readyz here.");
}

async function health(path: string, method: string, readiness: () => Promise<Readiness>): Promise<Answer> {
  allow(method, "GET", "HEAD");
  if (path === "/livez") return json(200, { alive: true });
  const found = await readiness();
  return json(found.ready ? 200 : 503, found);
}

/** For operators alone: how much an application sends, and what of it fails, is nobody else's business. */
async function metrics(request: IncomingMessage, parts: HandlerParts): Promise<Answer> {
  checkOrigin(request, parts.origins);
  allow(request.method ?? "", "GET", "HEAD");
  const { role } = await authenticate(request, parts.gatekeeper);
  if (role !== "operator") throw new Refused(403, "Metrics are for operators.");
  const { contentType, body } = await parts.metrics();
  return { status: 200, headers: { "Content-Type": contentType }, body };
}

async function graphql(request: IncomingMessage, parts: HandlerParts): Promise<Answer> {
  const headers = checkOrigin(request, parts.origins);
  try {
    if (request.method === "OPTIONS" && "Access-Control-Allow-Origin" in headers) {
      return { status: 204, headers, body: "" };
    }
    allow(request.method ?? "", "POST");
    const identity = await authenticate(request, parts.gatekeeper);
    const body = await readBody(request);
    const errors = checkLimits(body.query);
    if (errors.length > 0) return { ...json(400, { errors }), headers: { ...JSON_TYPE, ...headers } };
    const answer = await parts.gateway.execute(body, identity, request.headers.accept ?? "application/json");
    return { ...answer, headers: { ...answer.headers, ...headers } };
  } catch (error) {
    // A page that may ask may also know why it got no answer.
    if (error instanceof Refused)
      throw new Refused(error.status, error.message, { ...error.headers, ...headers });
    throw error;
  }
}

function allow(method: string, ...methods: readonly string[]): void {
  if (methods.includes(method)) return;
  throw new Refused(405, `Use ${methods.join(" or ")}.`, { Allow: methods.join(", ") });
}

function refusal({ status, message, headers }: Refused): Answer {
  return { ...json(status, { errors: [{ message }] }), headers: { ...JSON_TYPE, ...headers } };
}

function failure(error: unknown, log: Log): Answer {
  const { statusCode } = Object(error) as { statusCode?: unknown };
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500) {
    return json(statusCode, { errors: [{ message: "The request cannot be answered as it is." }] });
  }
  const errorId = crypto.randomUUID().slice(0, 8);
  log("http_failed", { errorId, error: describeError(error) });
  return json(500, { errors: [{ message: `An unexpected error; the log tells of it under ${errorId}.` }] });
}

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

function json(status: number, document: unknown): Answer {
  return { status, headers: JSON_TYPE, body: JSON.stringify(document) };
}

const SECURITY = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** GraphiQL runs scripts of its own; it may load nothing from elsewhere. */
function withPolicy(answer: Answer): Answer {
  const policy =
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:; " +
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";
  return { ...answer, headers: { ...answer.headers, "Content-Security-Policy": policy } };
}
