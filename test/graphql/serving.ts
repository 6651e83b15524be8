import "./environment.ts";
import { join } from "node:path";
import type { HttpSettings, TokenSettings } from "../../src/config.ts";
import type { Identity } from "../../src/graphql/http/identity.ts";
import { type HttpServer, startHttp } from "../../src/graphql/http/serve.ts";
import { signToken } from "../../src/graphql/http/sign-token.ts";
import { createLog } from "../../src/log.ts";
import type { TestDatabase } from "../database.ts";

export const SECRET = "a secret of more than thirty-two characters";
export const TOKENS: TokenSettings = {
  key: { kind: "secret", secret: SECRET },
  audience: "posthaste",
  issuer: "posthaste",
};

/** A server over a test's database, asked as a client would ask it. */
export interface Serving {
  readonly server: HttpServer;
  /** Posts to /graphql; the answer's JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for.
  ask(query: string, variables?: object, who?: Partial<Identity> | null): Promise<any>;
  /** Lines of the log. */
  readonly log: string[];
  stop(): Promise<void>;
}

/** Starts a server with a login of its own, which can become a viewer or an operator and nothing else. */
export async function serve(
  database: TestDatabase,
  settings: Partial<HttpSettings> = {},
  withoutToken: Identity | null = null,
): Promise<Serving> {
  const { connectionString } = await httpLogin(database);
  const log: string[] = [];
  const server = await startHttp({
    settings: {
      host: "127.0.0.1",
      port: 0,
      origins: [],
      introspection: true,
      graphiql: true,
      tokens: TOKENS,
      ...settings,
    },
    connectionString,
    emails: join(import.meta.dirname, "../../emails"),
    watch: false,
    withoutToken,
    checkLogin: true,
    log: createLog({ format: "json", stream: { write: (line: string) => log.push(line) > 0 } as never }),
  });
  return {
    server,
    log,
    async ask(query, variables = {}, who = {}) {
      const token = who && (await tokenFor(who));
      const response = await fetch(`${server.url}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify({ query, variables }),
      });
      return response.json();
    },
    stop: () => server.stop(),
  };
}

/** A token; by default an operator's, for an hour. */
export function tokenFor(who: Partial<Identity> = {}): Promise<string> {
  return signToken(TOKENS, { role: "operator", owner: null, subject: "ann", ...who }, 3_600_000);
}

/** The login that an HTTP server has. */
export async function httpLogin(database: TestDatabase): Promise<{ name: string; connectionString: string }> {
  const login = await database.login({ attributes: "noinherit" });
  await database.query(`grant posthaste_viewer, posthaste_operator to ${login.name}`);
  return login;
}
