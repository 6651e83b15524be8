/** How one mail server is reached. */
export interface TransportSettings {
  /** `smtp://user:password@host:587`, `smtps://…`, with options in the query, e.g. `?requireTLS=true`. Parses as a URL. */
  readonly url: string;
  /** Connections of one worker process to this server. Default 10, at least 1. */
  readonly connections: number;
  /** Header that carries the mail's id to a provider which deduplicates on it, e.g. `Resend-Idempotency-Key`. */
  readonly idempotencyHeader: string | null;
}

/** Where a store of attachments keeps its files. */
export interface StoreSettings {
  /** Absolute path. */
  readonly folder: string;
}

/** Limits for each phase of a send, in milliseconds. */
export interface Timeouts {
  /** DNS, TCP and TLS. Default 10 s. */
  readonly connect: number;
  /** From the connection to the server's greeting. Default 10 s. */
  readonly greeting: number;
  /** Each command's reply, and silence while the body is written. Default 30 s. */
  readonly command: number;
  /** The reply to the final dot (RFC 5321 4.5.3.2.6 asks for 10 minutes, the default). */
  readonly finalReply: number;
  /** Rendering one template. Default 10 s. */
  readonly render: number;
}

/** How long mail stays after its end, in milliseconds; null: for ever. */
export interface RetentionSettings {
  /** Default 90 days. */
  readonly sent: number | null;
  /** Default 180 days. */
  readonly failed: number | null;
  /** Default 30 days. */
  readonly cancelled: number | null;
  /** Whether it is deleted (default) or moved to posthaste.email_archive. */
  readonly mode: "delete" | "archive";
  /** How long an idempotency key outlives its mail. Default 90 days. */
  readonly keys: number;
  /** How long one purge may take. Default 1 h. */
  readonly budget: number;
}

/** How tokens (JWT) are checked. Each way has its algorithms, and a token cannot choose another. */
export interface TokenSettings {
  /**
   * `secret`: HS256. `publicKey`: RS256 or ES256, as the key in PEM is RSA or P-256. `jwks`: RS256 and ES256, with the keys
   * that this URL serves.
   */
  readonly key:
    | { readonly kind: "secret"; readonly secret: string }
    | { readonly kind: "publicKey"; readonly pem: string }
    | { readonly kind: "jwks"; readonly url: string };
  /** What `aud` must hold. Default `posthaste`. */
  readonly audience: string;
  /** What `iss` must be. Default `posthaste`. */
  readonly issuer: string;
}

/** How `posthaste serve` listens and whom it answers. */
export interface HttpSettings {
  /** Address that it listens on. Default 127.0.0.1; any other one than loopback needs tokens. */
  readonly host: string;
  /** Default 5680. 0: any free one. */
  readonly port: number;
  /** Origins of browser pages that may ask besides its own, e.g. `https://admin.shop.example`. */
  readonly origins: readonly string[];
  /** Whether the schema can be asked for. Default: unless the environment is production. */
  readonly introspection: boolean;
  /** Whether GraphiQL is served. Default: as introspection. */
  readonly graphiql: boolean;
  /** null: no tokens, so nobody is anybody. */
  readonly tokens: TokenSettings | null;
}

/** Where /metrics is served without asking who asks. */
export interface MetricsSettings {
  /** Default 127.0.0.1. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/** The validated configuration, durations in milliseconds. A process that does not send may lack `from` ("") and transports. */
export interface PosthasteConfig {
  /** Default sender, `user@host` or `Name <user@host>`. POSTHASTE_FROM. */
  readonly from: string;
  /** Absolute path of the folder of templates. */
  readonly emails: string;
  /** Absolute path of the folder for acceptances that the database could not take. */
  readonly journal: string;
  /** Transports by name; the first is the default one. */
  readonly transports: ReadonlyMap<string, TransportSettings>;
  /** Name of the transport for mail that names none. */
  readonly defaultTransport: string;
  /** Stores of attachments by name, besides `files`, which is the table posthaste.files. */
  readonly stores: ReadonlyMap<string, StoreSettings>;
  /** Octets that a message may have as it goes over the wire. Default 40,000,000. */
  readonly maxMessageSize: number;
  /** Must equal the database's own, so that a copy does not mail people. Default `production`. */
  readonly environment: string;
  /** Only these may be mailed, addresses or `@domain`; null: everybody. */
  readonly allowedRecipients: readonly string[] | null;
  /** Mails sent at once by one process. Default 20. */
  readonly concurrency: number;
  /** How long a claim holds without renewal. Default 60 s, at least 3 × its renewal interval. */
  readonly lease: number;
  /** Pause between two runs of maintenance. Default 15 s, 1 s to 30 s. */
  readonly maintenanceInterval: number;
  /** How long a stopping worker waits for replies. Default 25 s. */
  readonly shutdownGrace: number;
  readonly timeouts: Timeouts & {
    /** An answer of a store of attachments, and each piece of a file. Default 10 s. */
    readonly store: number;
  };
  readonly retry: {
    /** Delays after the first, second, … failed attempt; the last one repeats. */
    readonly delays: readonly number[];
    /** Default of `max_attempts` for mails that do not say. Default 8. */
    readonly maxAttempts: number;
    /** A mail that is older (since send_at or the last operator's retry) is given up. Default 5 days. */
    readonly maxAge: number;
  };
  readonly breaker: {
    /** HOST failures in a row that open it. Default 3. */
    readonly failures: number;
    /** First pause before a probe. Default 5 s, doubling up to maxProbe. */
    readonly probe: number;
    /** Default 60 s. */
    readonly maxProbe: number;
  };
  /** What happens to a mail that was handed over without a reply: send it again, or leave it to the operator. */
  readonly onUnknownOutcome: "resend" | "fail";
  /** How long FAILED mail keeps its secret parameters for a retry. Default 24 h. */
  readonly secretsAfterFailure: number;
  readonly retention: RetentionSettings;
  readonly http: HttpSettings;
  /** null: a worker serves no metrics. */
  readonly metrics: MetricsSettings | null;
}
