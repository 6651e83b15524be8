import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The folder with the template that the demo sends, and how to call the file. */
export interface DemoTemplates {
  readonly folder: string;
  /** For people. */
  readonly file: string;
}

/**
 * The repository's own templates; where Posthaste is installed as a package it has none, so a small one is written.
 * @param root of the package
 * @param scratch folder where the small one may be written
 */
export async function demoTemplates(root: string, scratch: string): Promise<DemoTemplates> {
  const folder = join(root, "emails");
  if (existsSync(join(folder, FILE))) return { folder, file: `emails/${FILE}` };
  const own = join(scratch, "emails");
  await mkdir(own);
  await writeFile(join(own, FILE), SOURCE);
  return { folder: own, file: FILE };
}

const FILE = "order-confirmed.tsx";

const SOURCE = `export const subject = ({ number }) => \`Order \${number} is confirmed\`;

export default function OrderConfirmed({ number, customer_name, items, total }) {
  return (
    <html lang="en">
      <body>
        <h1>Thank you, {customer_name}.</h1>
        <p>We have your order {number} and are packing it now.</p>
        <ul>
          {items.map(({ name, quantity }) => <li key={name}>{quantity} × {name}</li>)}
        </ul>
        <p>Total: {total}</p>
      </body>
    </html>
  );
}
`;
