import { Section, Text } from "@react-email/components";
import { z } from "zod";
import { moment } from "./_components/format.ts";
import { Layout } from "./_components/layout.tsx";
import { Note, Paragraph, Title } from "./_components/parts.tsx";
import { contact, instant, timeZone } from "./_components/schema.ts";
import { brand, color, font } from "./_components/theme.ts";

export const parameters = z.object({
  code: z.string().regex(/^[0-9A-Z]{4,10}$/, "must be 4 to 10 digits or capital letters"),
  expires_at: instant,
  /** Where the sign-in was tried, in words: "Safari on an iPhone, near Bath". */
  requested_from: z.string().min(1).nullish(),
  /** Where to say that it was somebody else. */
  report_url: contact.default(`mailto:${brand.support}`),
  time_zone: timeZone,
});

/** Erased from the database once the mail is sent. */
export const secrets = ["code"];

/** Dates and figures in the reader's English. */
export const locales = ["en"];

type Props = z.infer<typeof parameters> & { readonly locale?: string };

/** Without the code: a subject is kept, and shown on locked screens. */
export const subject = `Your sign-in code for ${brand.name}`;

export default function LoginCode({
  code,
  expires_at,
  requested_from,
  report_url,
  time_zone,
  locale,
}: Props) {
  return (
    <Layout
      preview={`Enter ${code} to sign in.`}
      reason="You get this mail because somebody signs in with your address."
    >
      <Title>Your sign-in code</Title>
      <Paragraph>Enter it in the window where you are signing in.</Paragraph>
      <Section className="tint" style={styles.box}>
        <Text className="code ink" style={styles.code}>
          {code}
        </Text>
      </Section>
      <Note>
        Valid once, until <strong>{moment(expires_at, time_zone, locale)}</strong>.
        {requested_from ? ` Asked for from ${requested_from}.` : ""}
      </Note>
      <Note>
        <strong>Not you?</strong> Nobody gets in without the code, so tell it to no one; we never ask for it.{" "}
        <a className="link" href={report_url} style={{ color: color.accent }}>
          Tell us about it
        </a>
        .
      </Note>
    </Layout>
  );
}

const styles = {
  box: { backgroundColor: color.tint, borderRadius: "6px", margin: "4px 0 24px" },
  code: {
    color: color.ink,
    fontFamily: font.code,
    fontSize: "46px",
    fontWeight: 600,
    letterSpacing: "10px",
    lineHeight: "56px",
    margin: 0,
    // The space after the last letter would shift the code to the left.
    padding: "24px 0 24px 10px",
    textAlign: "center",
  },
} as const;

LoginCode.PreviewProps = {
  code: "482913",
  expires_at: "2026-10-03T14:15:00+01:00",
  requested_from: "Safari on an iPhone, near Bath",
  time_zone: "Europe/London",
} satisfies z.input<typeof parameters>;
