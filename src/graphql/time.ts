/** A time of the database for the scalar Datetime. A host may have taught pg to answer with text. */
export function iso(value: Date | string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return (value instanceof Date ? value : new Date(value)).toISOString();
}
