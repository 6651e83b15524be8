import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
const GOOD = `import { z } from "zod";
export const parameters = z.object({ total: z.number(), name: z.string().optional() });
type Props = z.infer<typeof parameters> & { readonly locale?: string };
export const subject = ({ total }: Props) => "Total " + total.toFixed(2);
export default function Mail({ total, name }: Props) { return <p>{name}: {total}</p>; }
Mail.PreviewProps = { total: 5 } satisfies z.input<typeof parameters>;
export const samples = { named: { total: 5, name: "Ada" } } satisfies Record<string, z.input<typeof parameters>>;
`;

test("a template compiles without anything of ours, and a wrong sample or prop does not", async (t) => {
  // Below the repository, where its packages are found.
  const folder = join(ROOT, ".posthaste", `types-${process.pid}`);
  await mkdir(folder, { recursive: true });
  t.after(() => rm(folder, { recursive: true }));
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2024", jsx: "react-jsx", strict: true, noEmit: true },
    ...{ skipLibCheck: true, types: [] },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["mail.tsx"] }));
  const compile = async (source: string) => {
    await writeFile(join(folder, "mail.tsx"), source);
    return promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]).then(
      () => "",
      ({ stdout }: { stdout: string }) => stdout,
    );
  };
  assert.equal(await compile(GOOD), "");
  assert.match(
    await compile(GOOD.replace("{ total: 5 }", '{ total: "5" }')),
    /mail\.tsx\(6,\d+\): error.*'string'/,
  );
  assert.match(await compile(GOOD.replace('name: "Ada"', 'nam: "Ada"')), /mail\.tsx\(7,\d+\): error.*'nam'/);
  assert.match(
    await compile(GOOD.replace("({ total }: Props)", "({ totl }: Props)")),
    /mail\.tsx\(4,\d+\): error/,
  );
});
