import { z } from "zod";
import { day, money } from "./_components/format.ts";
import { Layout } from "./_components/layout.tsx";
import { Action, Lines, Note, Paragraph, Subtitle, Table, Title } from "./_components/parts.tsx";
import { currency, instant, link, timeZone } from "./_components/schema.ts";

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

type Props = z.infer<typeof parameters> & { readonly locale?: string };

export const subject = ({ number }: Props) => `Order ${number} is confirmed`;

export default function OrderConfirmed(props: Props) {
  const { number, customer_name, ordered_at, items, address, url, time_zone, locale } = props;
  const amount = (value: number) => money(value, props.currency, locale);
  return (
    <Layout
      preview={`Thank you, ${customer_name}. We are packing your order now.`}
      reason={`You get this mail because you ordered at our shop.`}
    >
      <Title>Thank you, {customer_name}.</Title>
      <Paragraph>
        We have your order <strong style={{ whiteSpace: "nowrap" }}>{number}</strong>
        {ordered_at ? ` of ${day(ordered_at, time_zone, locale)}` : ""} and are packing it now. You get
        another mail as soon as it is on its way.
      </Paragraph>
      {url ? <Action href={url}>View your order</Action> : null}
      {items?.length ? (
        <Table
          label="What you ordered"
          head={["Item", "Qty", "Price"]}
          rows={items.map(({ name, quantity, price }) => [name, String(quantity), amount(quantity * price)])}
          foot={sums(props, amount)}
        />
      ) : null}
      {address?.length ? (
        <>
          <Subtitle>Delivery to</Subtitle>
          <Lines lines={address} />
        </>
      ) : null}
      <Note>Something not right? Write to us before the parcel leaves, and we will put it in order.</Note>
    </Layout>
  );
}

function sums({ shipping, discount, total }: Props, amount: (value: number) => string): string[][] {
  const rows: string[][] = [];
  if (discount) rows.push(["Discount", "", amount(-discount)]);
  if (isGiven(shipping)) rows.push(["Delivery", "", shipping === 0 ? "Free" : amount(shipping)]);
  if (isGiven(total)) rows.push(["Total", "", amount(total)]);
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
