import { z } from "zod";
import { day, figure, money } from "./_components/format.ts";
import { Layout } from "./_components/layout.tsx";
import { ORDER_WORDS } from "./_components/orderWords.ts";
import { Action, Lines, Note, Paragraph, Subtitle, Table, Title } from "./_components/parts.tsx";
import { currency, instant, link, timeZone } from "./_components/schema.ts";
import { wordsFor } from "./_components/words.ts";

/** Number and name are enough; what else is given and not null is shown. Amounts are in the currency's main unit: 59.80. */
export const parameters = z.object({
  number: z.union([z.string().min(1), z.int()]),
  customer_name: z.string().min(1),
  ordered_at: instant.nullish(),
  items: z
    .array(z.object({ name: z.string().min(1), quantity: z.int().positive(), price: z.number() }))
    .nullish(),
  currency: currency.default("EUR"),
  shipping: z.number().min(0).nullish(),
  discount: z.number().min(0).nullish(),
  total: z.number().nullish(),
  /** Lines of the delivery address. */
  address: z.array(z.string().min(1)).nullish(),
  url: link.nullish(),
  time_zone: timeZone,
});

/** The default first. */
export const locales = ["en", "de", "ar"];

type Props = z.infer<typeof parameters> & { readonly locale?: string };

export const subject = ({ number, locale }: Props) => wordsFor(ORDER_WORDS, locale).subject(String(number));

export default function OrderConfirmed(props: Props) {
  const { number, customer_name, ordered_at, items, address, url, time_zone, locale } = props;
  const words = wordsFor(ORDER_WORDS, locale);
  const amount = (value: number) => money(value, props.currency, locale);
  const [before, after] = words.packing(ordered_at ? day(ordered_at, time_zone, locale) : null);
  return (
    <Layout preview={words.preview(customer_name)} reason={words.reason} words={words.frame}>
      <Title>{words.thanks(customer_name)}</Title>
      <Paragraph>
        {before}
        <strong dir="ltr" style={{ whiteSpace: "nowrap" }}>
          {number}
        </strong>
        {after}
      </Paragraph>
      {url ? <Action href={url}>{words.view}</Action> : null}
      {items?.length ? (
        <Table
          dir={words.frame.dir}
          label={words.table}
          head={words.columns}
          rows={items.map(({ name, quantity, price }) => [
            name,
            figure(quantity, locale),
            amount(quantity * price),
          ])}
          foot={sums(props, amount)}
        />
      ) : null}
      {address?.length ? (
        <>
          <Subtitle>{words.deliveryTo}</Subtitle>
          <Lines lines={address} />
        </>
      ) : null}
      <Note>{words.mistake}</Note>
    </Layout>
  );
}

function sums({ shipping, discount, total, locale }: Props, amount: (value: number) => string): string[][] {
  const words = wordsFor(ORDER_WORDS, locale);
  const rows: string[][] = [];
  if (discount) rows.push([words.discount, "", amount(-discount)]);
  if (isGiven(shipping)) rows.push([words.delivery, "", shipping === 0 ? words.free : amount(shipping)]);
  if (isGiven(total)) rows.push([words.total, "", amount(total)]);
  return rows;
}

function isGiven(value: number | null | undefined): value is number {
  return value !== null && value !== undefined;
}

OrderConfirmed.PreviewProps = {
  number: "HR-20418",
  customer_name: "Amara",
  ordered_at: "2026-10-03T09:12:00+01:00",
  items: [
    { name: "Fountain pen, fine nib, bottle green", quantity: 1, price: 48 },
    { name: "Notebook A5, dotted, 192 pages", quantity: 3, price: 14.5 },
    { name: "Ink cartridges, blue-black, box of 8", quantity: 2, price: 5.2 },
  ],
  currency: "GBP",
  shipping: 3.9,
  discount: 10,
  total: 95.8,
  address: ["Amara Okafor", "Flat 3, 41 Cotham Road", "Bristol BS6 6DN", "United Kingdom"],
  url: "https://shop.example/orders/HR-20418",
  time_zone: "Europe/London",
} satisfies z.input<typeof parameters>;

export const samples = {
  "number and name": { number: 20419, customer_name: "Jo" },
  "free delivery": {
    number: "HR-20420",
    customer_name: "Reinhild Großmann-Öztürk",
    items: [{ name: "Füllfederhalter", quantity: 1, price: 1250.5 }],
    currency: "EUR",
    shipping: 0,
    total: 1250.5,
  },
} satisfies Record<string, z.input<typeof parameters>>;
