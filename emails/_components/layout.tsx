import { Body, Container, Head, Html, Link, Preview, Section, Text } from "@react-email/components";
import type { ReactNode } from "react";
import { brand, color, css, font } from "./theme.ts";
import { FRAME, type FrameWords } from "./words.ts";

interface LayoutProps {
  /** What the inbox shows after the subject. */
  readonly preview: string;
  /** Why the reader got this mail: the last line. */
  readonly reason: string;
  readonly children: ReactNode;
  /** Words of the frame, and with them the language of the mail and its direction. Default: English. */
  readonly words?: FrameWords;
}

/** The frame of every mail: the shop's name, a sheet with the content, and who sent it and why. */
export function Layout({ preview, reason, children, words = FRAME.en }: LayoutProps) {
  return (
    <Html lang={words.lang} dir={words.dir}>
      <Head>
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <title>{brand.name}</title>
        <style>{css}</style>
      </Head>
      <Preview>{preview}</Preview>
      <Body className="paper" style={{ backgroundColor: color.paper, margin: 0, fontFamily: font.text }}>
        <Section className="paper outer" style={{ backgroundColor: color.paper, padding: "32px 16px" }}>
          <Container style={{ maxWidth: "560px" }}>
            <Section className="sheet" style={styles.sheet}>
              <Text className="line" style={styles.mast}>
                <Link className="ink" href={brand.url} style={styles.name}>
                  {brand.name}
                </Link>
              </Text>
              {children}
            </Section>
            <Section className="foot" style={{ padding: "24px 48px 0" }}>
              <Text className="soft" style={styles.foot}>
                {reason} {words.questions}{" "}
                <Link className="soft" href={`mailto:${brand.support}`} style={styles.footLink}>
                  {brand.support}
                </Link>
                .
              </Text>
              <Text className="soft" style={styles.foot}>
                {brand.postal}
              </Text>
            </Section>
          </Container>
        </Section>
      </Body>
    </Html>
  );
}

const styles = {
  sheet: { backgroundColor: color.sheet, borderRadius: "6px", padding: "36px 48px 44px" },
  mast: { margin: "0 0 32px", paddingBottom: "20px", borderBottom: `1px solid ${color.line}` },
  name: {
    color: color.ink,
    fontFamily: font.title,
    fontSize: "19px",
    lineHeight: "24px",
    letterSpacing: "0.2px",
    textDecoration: "none",
  },
  foot: { color: color.soft, fontSize: "13px", lineHeight: "20px", margin: "0 0 8px" },
  footLink: { color: color.soft, textDecoration: "underline" },
} as const;
