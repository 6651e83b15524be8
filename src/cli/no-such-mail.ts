/** What is said when a word is nobody's id, idempotency key or reference. */
export function noSuchMail(word: string): string {
  return `There is no mail with the id, idempotency key or reference ${JSON.stringify(word)}; look for it with \`posthaste list\`.`;
}
