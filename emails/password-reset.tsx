import { z } from "zod";
import { moment } from "./_components/format.ts";
import { Layout } from "./_components/layout.tsx";
import { Action, Note, Paragraph, PlainLink, Rule, Title } from "./_components/parts.tsx";
import { instant, link, timeZone } from "./_components/schema.ts";
import { brand } from "./_components/theme.ts";

export const parameters = z.object({
  url: link,
  expires_at: instant,
  customer_name: z.string().min(1).nullish(),
  /** Where the request came from, in words: "Firefox on Windows, near Leeds". */
  requested_from: z.string().min(1).nullish(),
  time_zone: timeZone,
});

/** Who has the link can take the account: it is erased from the database once the mail is sent. */
export const secrets = ["url"];

/** Dates and figures in the reader's English. */
export const locales = ["en"];

type Props = z.infer<typeof parameters> & { readonly locale?: string };

export const subject = `Choose a new password for ${brand.name}`;

export default function PasswordReset(props: Props) {
  const { url, expires_at, customer_name, requested_from, time_zone, locale } = props;
  return (
    <Layout
      preview="The link works once. If you did not ask for it, nothing changes."
      reason="You get this mail because somebody asked for a new password for your account."
    >
      <Title>Choose a new password</Title>
      <Paragraph>
        {customer_name ? `Hello ${customer_name}, we` : "We"} were asked to reset the password of your
        account. The link works once, until <strong>{moment(expires_at, time_zone, locale)}</strong>.
      </Paragraph>
      <Action href={url}>Choose a new password</Action>
      <Note>
        If the button does nothing, copy this address into your browser:
        <br />
        <PlainLink href={url} />
      </Note>
      <Rule />
      <Note>
        <strong>You did not ask for this?</strong> Then leave the mail alone: your password stays as it is
        {requested_from ? `. The request came from ${requested_from}.` : "."}
      </Note>
    </Layout>
  );
}

PasswordReset.PreviewProps = {
  url: "https://shop.example/account/password?token=uQ8mH2vK5rT9xW3zB7nD1pF6sJ4aL0cE",
  expires_at: "2026-10-03T15:42:00+01:00",
  customer_name: "Amara",
  requested_from: "Firefox on Windows, near Bristol",
  time_zone: "Europe/London",
} satisfies z.input<typeof parameters>;
