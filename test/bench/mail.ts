import { join } from "node:path";
import { render, toPlainText } from "@react-email/render";
import { createElement } from "react";
import { packageRoot } from "../../src/package-root.ts";
import { loadTemplates } from "../../src/templates/load.ts";

/** The defaults of Posthaste, given to all contenders. */
export const CONCURRENCY = 20;
export const CONNECTIONS = 10;

export const FROM = "Hill Road Papers <no-reply@shop.example>";
export const TEMPLATE = "order-confirmed";

/** Parameters of the mail, as SQL: an order of three items, from an integer `n`. All contenders send this mail. */
export const PARAMETERS = `jsonb_build_object(
  'number', 'HR-' || n,
  'customer_name', 'Amara',
  'ordered_at', '2026-10-03T09:12:00+01:00',
  'items', '[
    {"name": "Fountain pen, fine nib, bottle green", "quantity": 1, "price": 48},
    {"name": "Notebook A5, dotted, 192 pages", "quantity": 3, "price": 14.5},
    {"name": "Ink cartridges, blue-black, box of 8", "quantity": 2, "price": 5.2}]'::jsonb,
  'currency', 'GBP', 'shipping', 3.9, 'discount', 10, 'total', 95.8,
  'address', '["Amara Okafor", "Flat 3, 41 Cotham Road", "Bristol BS6 6DN", "United Kingdom"]'::jsonb,
  'url', 'https://shop.example/orders/HR-' || n,
  'time_zone', 'Europe/London')`;

/** Who gets it, as SQL. */
export const RECIPIENT = `'amara.' || n || '@customer.example'`;

/** A mail as anyone would render it with React Email: `render` and `toPlainText`, nothing else. */
export async function createPlainRenderer() {
  const catalog = await loadTemplates(join(packageRoot, "emails"));
  const template = catalog.get(TEMPLATE);
  if (!template || template.broken !== null) throw new Error(template?.broken ?? `no template ${TEMPLATE}`);
  const { component, subject } = template;
  return async (parameters: Readonly<Record<string, unknown>>) => {
    const html = await render(createElement(component, parameters));
    const line = typeof subject === "function" ? subject(parameters) : subject;
    return { subject: String(line), html, text: toPlainText(html) };
  };
}
