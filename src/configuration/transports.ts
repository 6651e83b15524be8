import type { TransportSettings } from "../config.ts";
import { headerName, integer, problemWith, smtpUrl } from "./rules.ts";
import type { Section } from "./section.ts";

/** Reads the mail servers; SMTP_URL goes before the URL of `default`, and makes it where there is none. */
export function readTransports(
  section: Section,
  input: { readonly environment: Readonly<Record<string, string | undefined>>; readonly sends: boolean },
  problems: string[],
): ReadonlyMap<string, TransportSettings> {
  const variable = input.environment.SMTP_URL || undefined;
  const override = variable === undefined ? undefined : (smtpUrl.read(variable) ?? "");
  if (override === "") problems.push(problemWith("SMTP_URL", smtpUrl, variable));
  const inFile = section.names();
  const names = override !== undefined && !inFile.includes("default") ? ["default", ...inFile] : inFile;
  const transports = new Map<string, TransportSettings>();
  for (const name of names) {
    if (!/^[a-z0-9_-]{1,63}$/.test(name)) {
      problems.push(
        `posthaste.transports: a name must be 1 to 63 of the characters a-z, 0-9, _ and -; received ${JSON.stringify(name)}.`,
      );
    }
    const fields = section.section(name);
    const url = fields.option("url", smtpUrl, "");
    const given = name === "default" ? override : undefined;
    if (given === undefined && isMissing(fields, name, input.sends)) {
      const place = name === "default" ? "set it, or SMTP_URL," : "set it";
      problems.push(`posthaste.transports.${name}.url is missing; ${place} to ${smtpUrl.expected}.`);
    }
    transports.set(name, {
      url: given ?? url,
      connections: fields.option("connections", integer(1, 1000), 10),
      idempotencyHeader: fields.option("idempotencyHeader", headerName, null),
    });
  }
  if (input.sends && transports.size === 0) {
    problems.push(
      "posthaste.transports is empty; set SMTP_URL, or transports.default.url, to the URL of your mail server.",
    );
  }
  return transports;
}

/** Where no mail is sent, a variable that is not set may be set elsewhere; a URL that nobody gives may not. */
function isMissing(fields: Section, name: string, sends: boolean): boolean {
  if (fields.names().includes("url")) return false;
  return sends || (name !== "default" && !fields.mentions("url"));
}
