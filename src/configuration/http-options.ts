/** GraphQL over HTTP. */
export interface HttpOptions {
  /** Address to listen on. Default `127.0.0.1`. Any other than loopback needs tokens. */
  host?: string | undefined;
  /** Port to listen on. Default 5680; 0 takes any free one. */
  port?: number | undefined;
  /** Origins of browser pages that may ask, besides the server's own, e.g. `["https://admin.shop.example"]`. Default none. */
  origins?: readonly string[] | undefined;
  /** Whether clients may ask for the schema. Default true, in the environment `production` false. */
  introspection?: boolean | undefined;
  /** Whether GraphiQL is served at /graphiql. Default as `introspection`. */
  graphiql?: boolean | undefined;
  /** What tokens (JWT) must be. Without a key there are none. */
  tokens?: TokenOptions | undefined;
}

/** What tokens must be. One of the three keys, or the environment variable of the same meaning, which goes first. */
export interface TokenOptions {
  /** HS256: a secret of at least 32 characters. POSTHASTE_JWT_SECRET. */
  secret?: string | undefined;
  /** RS256 or ES256: the issuer's public key in PEM (RSA, or EC P-256). POSTHASTE_JWT_PUBLIC_KEY. */
  publicKey?: string | undefined;
  /** RS256 and ES256: where the issuer serves its keys (JWKS). POSTHASTE_JWKS_URL. */
  jwksUrl?: string | undefined;
  /** What `aud` must hold. Default `posthaste`. */
  audience?: string | undefined;
  /** What `iss` must be. Default `posthaste`. */
  issuer?: string | undefined;
}
