import type { ServerSettings } from "./settings.ts";

/** Takes the credentials out of what a server, or a library, says. */
export type Mask = (text: string) => string;

/** A shorter password is part of too many words. */
const SHORT = 6;

/**
 * Masks the password of a transport wherever it is repeated: as it is, percent-encoded, and as AUTH PLAIN and AUTH LOGIN
 * write it. A password of a few characters is masked only where it stands alone: otherwise every message would be torn to
 * pieces, which would tell it besides.
 */
export function maskOf(auth: ServerSettings["auth"]): Mask {
  if (auth === null || auth.pass === "") return (text) => text;
  const { user, pass } = auth;
  const forms = [`\0${user}\0${pass}`, pass].map((said) => Buffer.from(said).toString("base64"));
  // A server may leave the padding out.
  const encoded = forms.map((form) => `${escaped(form.replace(/=+$/, ""))}={0,2}`);
  const plain = [...new Set([pass, encodeURIComponent(pass)])].map(escaped);
  const alone = (form: string) => `(?<![\\p{L}\\p{N}])${form}(?![\\p{L}\\p{N}])`;
  const all =
    pass.length < SHORT
      ? [encoded[0], ...[...encoded.slice(1), ...plain].map(alone)]
      : [...encoded, ...plain];
  const pattern = new RegExp(all.join("|"), "giu");
  return (text) => text.replace(pattern, "***");
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
