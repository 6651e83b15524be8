import { isIP } from "node:net";
import { type ConnectionOptions, createSecureContext } from "node:tls";
import { parseConnectionUrl } from "nodemailer/lib/shared";
import type { TransportSettings } from "../config.ts";
import { PosthasteError } from "../errors.ts";

/** A transport's URL, read and checked. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first octet (`smtps:`). */
  readonly secure: boolean;
  /** STARTTLS or nothing. Otherwise STARTTLS is used where it is offered. */
  readonly requireTLS: boolean;
  /** Leave STARTTLS alone although it is offered. */
  readonly ignoreTLS: boolean;
  /** Go on in clear, without AUTH, when STARTTLS is offered but refused. */
  readonly opportunisticTLS: boolean;
  readonly auth: { readonly user: string; readonly pass: string; readonly method: string | null } | null;
  /** Name for EHLO, or null for this host's own. */
  readonly name: string | null;
  readonly localAddress: string | null;
  readonly tls: ConnectionOptions;
  /** Connections at once. */
  readonly connections: number;
  /** Messages before a connection is given up. Default 100. */
  readonly maxMessages: number;
  /** Milliseconds that an idle connection is kept. Default 30,000: less than any server's own limit. */
  readonly idleTimeout: number;
}

const SWITCHES = ["requireTLS", "ignoreTLS", "opportunisticTLS"] as const;
const TEXTS = ["name", "localAddress", "authMethod"] as const;
const NUMBERS = ["maxMessages", "idleTimeout"] as const;
const AUTH_METHODS = ["PLAIN", "LOGIN", "CRAM-MD5"];

/**
 * Reads `smtp://user:password@host:587?requireTLS=true` or `smtps://…`, in nodemailer's form.
 * Throws a PosthasteError that names the transport and the rule, and never shows the URL: it holds the password.
 */
export function readSettings(transport: string, settings: TransportSettings): ServerSettings {
  const reject = (rule: string): never => {
    throw new PosthasteError(`transports.${transport}.url: ${rule}`, { exitCode: 2 });
  };
  if (!/^smtps?:\/\//i.test(settings.url)) {
    reject(
      "must begin with smtp:// or smtps://, e.g. smtp://user:password@mail.example:587?requireTLS=true.",
    );
  }
  const parsed =
    parse(settings.url) ??
    reject("cannot be read as a URL; percent-encode special characters of the password.");
  const query = new URLSearchParams(settings.url.replace(/^[^?#]*/, "").replace(/#.*$/, ""));
  for (const key of query.keys()) {
    const known = [...SWITCHES, ...TEXTS, ...NUMBERS].some((name) => name === key) || key.startsWith("tls.");
    if (!known) {
      const all = [...SWITCHES, ...TEXTS, ...NUMBERS, "tls.*"].join(", ");
      reject(
        `has no option ${JSON.stringify(key.slice(0, 40))}; the options are ${all}. Timeouts and connections are set beside the URL.`,
      );
    }
  }
  const option = (name: string): unknown => Reflect.get(parsed, name);
  if ((parsed.port ?? 1) > 65_535) reject("must have a port of 1 to 65535.");
  const host = parsed.host ?? reject("must name a host, e.g. smtp://mail.example:587.");
  for (const name of SWITCHES) {
    if (!["undefined", "boolean"].includes(typeof option(name))) reject(`${name} must be true or false.`);
  }
  for (const name of NUMBERS) {
    const value = option(name);
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 1))
      reject(`${name} must be a whole number of at least 1.`);
  }
  const method = option("authMethod") === undefined ? null : String(option("authMethod")).toUpperCase();
  if (method !== null && !AUTH_METHODS.includes(method))
    reject(`authMethod must be one of ${AUTH_METHODS.join(", ")}.`);
  const localAddress = option("localAddress") === undefined ? null : String(option("localAddress"));
  if (localAddress !== null && isIP(localAddress) === 0)
    reject("localAddress must be an IP address of this host.");
  const { user = "", pass = "" } = parsed.auth ?? {};
  if ((user === "") !== (pass === "")) reject("must have both a user and a password, or neither.");
  if (!Number.isInteger(settings.connections) || settings.connections < 1) {
    throw new PosthasteError(
      `transports.${transport}.connections must be a whole number of at least 1, not ${settings.connections}.`,
      { exitCode: 2 },
    );
  }
  if (!acceptableTls(parsed.tls))
    reject("has a tls.* option that TLS does not accept; see Node's tls.connect.");
  const header = settings.idempotencyHeader;
  if (header !== null && !/^[A-Za-z][A-Za-z0-9-]{0,69}$/.test(header)) {
    throw new PosthasteError(
      `transports.${transport}.idempotencyHeader must be a header's name of letters, digits and hyphens, e.g. Resend-Idempotency-Key, not ${JSON.stringify(header)}.`,
      { exitCode: 2 },
    );
  }
  const secure = parsed.secure === true;
  return {
    host,
    port: parsed.port ?? (secure ? 465 : 587),
    secure,
    requireTLS: option("requireTLS") === true,
    ignoreTLS: option("ignoreTLS") === true,
    opportunisticTLS: option("opportunisticTLS") === true,
    auth: user === "" ? null : { user, pass, method },
    name: option("name") === undefined ? null : String(option("name")),
    localAddress,
    tls: parsed.tls ?? {},
    connections: settings.connections,
    maxMessages: Number(option("maxMessages") ?? 100),
    idleTimeout: Number(option("idleTimeout") ?? 30_000),
  };
}

function parse(url: string): ReturnType<typeof parseConnectionUrl> | null {
  try {
    return parseConnectionUrl(url);
  } catch {
    return null; // The library's message quotes the URL.
  }
}

/** Wrong TLS options throw when a connection is made, in the midst of a mail; so they are tried here. */
function acceptableTls(options: ConnectionOptions | undefined): boolean {
  try {
    createSecureContext(options ?? {});
    return true;
  } catch {
    return false;
  }
}
