import { Text } from "@react-email/components";
import { z } from "zod";
import { clock, figure, moment } from "./_components/format.ts";
import { Layout } from "./_components/layout.tsx";
import { Action, Note, Paragraph, Subtitle, Table, Title } from "./_components/parts.tsx";
import { instant, link, timeZone } from "./_components/schema.ts";
import { color, font } from "./_components/theme.ts";

export const parameters = z.object({
  /** Name of the metric as a sentence would have it: "Failed payments". */
  metric: z.string().min(1),
  value: z.number(),
  threshold: z.number(),
  direction: z.enum(["above", "below"]).default("above"),
  /** Written after each figure: "%", "ms". */
  unit: z.string().max(12).default(""),
  measured_at: instant,
  /** Earlier measurements, the newest first. */
  history: z
    .array(z.object({ at: instant, value: z.number() }))
    .max(50)
    .nullish(),
  url: link.nullish(),
  time_zone: timeZone,
});

/** Dates and figures in the reader's English. */
export const locales = ["en"];

type Props = z.infer<typeof parameters> & { readonly locale?: string };

export const subject = (props: Props) =>
  `${props.metric}: ${write(props, props.value)}, ${props.direction} ${write(props, props.threshold)}`;

export default function ReportAlert(props: Props) {
  const { metric, value, threshold, direction, measured_at, history, url, time_zone, locale } = props;
  return (
    <Layout
      preview={`Measured on ${moment(measured_at, time_zone, locale)}.`}
      reason={`You get this mail because you watch “${metric}”.`}
    >
      <Title>
        {metric} {direction === "above" ? "rose above" : "fell below"} {write(props, threshold)}
      </Title>
      <Text className="alarm" style={styles.value}>
        {write(props, value)}
      </Text>
      <Paragraph>
        Measured on {moment(measured_at, time_zone, locale)}. The threshold is {write(props, threshold)}.
      </Paragraph>
      {url ? <Action href={url}>Open the report</Action> : null}
      {history?.length ? (
        <>
          <Subtitle>Before that</Subtitle>
          <Table
            label={`Earlier measurements of ${metric}`}
            head={["Time", "Value", "To the threshold"]}
            rows={history.map(({ at, value: earlier }) => [
              clock(at, time_zone, locale),
              write(props, earlier),
              signed(earlier - threshold, locale),
            ])}
          />
        </>
      ) : null}
      <Note>One mail is sent each time the threshold is crossed, not for every measurement beyond it.</Note>
    </Layout>
  );
}

/** 4.2% but 310 ms: a sign stands close, a word does not. */
function write({ unit, locale }: Props, value: number): string {
  const space = /^\p{L}/u.test(unit) ? "\u00a0" : "";
  return `${figure(value, locale)}${space}${unit}`;
}

/** +1.8 or −0.4, without the unit: a difference of percentages is not a percentage. */
function signed(difference: number, locale: string | undefined): string {
  const sign = difference === 0 ? "" : difference > 0 ? "+" : "−";
  return sign + figure(Math.abs(difference), locale);
}

const styles = {
  value: {
    color: color.alarm,
    fontFamily: font.title,
    fontSize: "54px",
    fontVariantNumeric: "tabular-nums lining-nums",
    lineHeight: "62px",
    margin: "8px 0 16px",
  },
} as const;

ReportAlert.PreviewProps = {
  metric: "Failed payments",
  value: 6.8,
  threshold: 5,
  unit: "%",
  measured_at: "2026-10-03T14:00:00+01:00",
  history: [
    { at: "2026-10-03T13:45:00+01:00", value: 4.6 },
    { at: "2026-10-03T13:30:00+01:00", value: 3.1 },
    { at: "2026-10-03T13:15:00+01:00", value: 1.9 },
    { at: "2026-10-03T13:00:00+01:00", value: 2.2 },
  ],
  url: "https://shop.example/admin/reports/failed-payments",
  time_zone: "Europe/London",
} satisfies z.input<typeof parameters>;
