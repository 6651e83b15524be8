/**
 * A URL without what may be secret: user, password, path and query. It reads the text, not a parsed URL,
 * because a password with a stray `@`, `/` or `?` is the usual reason why a URL does not parse.
 */
export function masked(url: string): string {
  const [, scheme = "", rest = url] = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)(.*)$/s.exec(url) ?? [];
  const at = rest.lastIndexOf("@");
  const host = rest
    .slice(at + 1)
    .replace(/[/?#\s].*$/s, "")
    .replace(/:(?!\d+$).*$/s, ":***");
  if (scheme === "" && at < 0) return `text of ${url.length} characters`;
  return `${scheme}${at < 0 ? "" : "***@"}${host}`;
}

/** Text, for example another library's message, with the credentials of each URL in it masked. */
export function withMaskedUrls(text: string): string {
  return text.replace(/\b[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s'"`<>]+/g, (url) =>
    url.startsWith("file:") ? url : masked(url),
  );
}
