import { z } from "zod";
import { Layout } from "./_components/layout.tsx";
import { Action, Note, Rule, Title } from "./_components/parts.tsx";
import { RichText } from "./_components/rich-text.tsx";
import { link } from "./_components/schema.ts";
import { brand } from "./_components/theme.ts";

export const parameters = z.object({
  ticket: z.union([z.string().min(1), z.int()]),
  /** What the customer wrote about, in one line. */
  topic: z.string().min(1),
  /** The answer as HTML, from the editor of whoever wrote it. */
  answer_html: z.string().min(1),
  agent_name: z.string().min(1),
  url: link.nullish(),
});

export const locales = ["en"];

type Props = z.infer<typeof parameters>;

export const subject = ({ ticket, topic }: Props) => `Re: ${topic} [${ticket}]`;

export default function SupportReply({ ticket, topic, answer_html, agent_name, url }: Props) {
  return (
    <Layout
      preview={`${agent_name} has answered you.`}
      reason={`You get this mail because you wrote to us; your request is number ${ticket}.`}
    >
      <Title>{topic}</Title>
      <RichText html={answer_html} />
      <Note>
        {agent_name}, {brand.name}
      </Note>
      {url ? (
        <>
          <Rule />
          <Action href={url}>View the conversation</Action>
        </>
      ) : null}
    </Layout>
  );
}

SupportReply.PreviewProps = {
  ticket: "S-7731",
  topic: "The nib of my pen scratches",
  answer_html: `<p>Dear Amara,</p>
<p>thank you for writing, and I am sorry that the pen <em>scratches</em>. Most new nibs settle in after a page or two. If yours does not, these usually help:</p>
<h2>What to try</h2>
<ol><li>Rinse the nib in <strong>cold</strong> water and let it dry overnight.</li><li>Write on smoother paper, such as the <code>A5-192</code> that you ordered.</li></ol>
<blockquote><p>It catches on every upstroke.</p></blockquote>
<p>If it still does, <a href="https://shop.example/returns/new?order=HR-20418">send it back to us</a> at our expense, or write to <a href="mailto:nibs@shop.example">our workshop</a>.</p>`,
  agent_name: "Jonas Reed",
  url: "https://shop.example/support/S-7731",
} satisfies z.input<typeof parameters>;

export const samples = {
  "plain and short": {
    ticket: 7732,
    topic: "Opening hours",
    answer_html: "We are open until six.",
    agent_name: "Jonas",
  },
} satisfies Record<string, z.input<typeof parameters>>;
