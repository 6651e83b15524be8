import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Build } from "./next-version.ts";

/** A build with an application's configuration and templates. */
export interface Installed {
  readonly build: Build;
  readonly directory: string;
}

/** Puts an application into a folder: its configuration and its templates, name → text. */
export async function install(
  build: Build,
  directory: string,
  application: { templates: Readonly<Record<string, string>>; concurrency: number },
): Promise<Installed> {
  await mkdir(join(directory, "emails"), { recursive: true });
  for (const [name, text] of Object.entries(application.templates))
    await writeFile(join(directory, "emails", `${name}.tsx`), MAIL(text));
  const options = {
    from: "Shop <no-reply@shop.example>",
    emails: "./emails",
    journal: "../journal",
    concurrency: application.concurrency,
    lease: 3000,
    maintenanceInterval: 1000,
    shutdownGrace: 5000,
    retry: { delays: [50] },
  };
  await writeFile(
    join(directory, "graphile.config.mjs"),
    `export default { posthaste: ${JSON.stringify(options)} };`,
  );
  return { build, directory };
}

/** Starts a command of the build in the application's folder. */
export function command({ build, directory }: Installed, env: NodeJS.ProcessEnv, name: "worker" | "migrate") {
  const main = join(build.root, "src/cli/main.ts");
  return spawn(process.execPath, ["--conditions=posthaste-source", main, name], {
    cwd: directory,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** Waits for the end of a command. */
export async function ended(child: ReturnType<typeof command>): Promise<Ended> {
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const [code] = await once(child, "close");
  return { code, said };
}

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly said: string;
}

const MAIL = (text: string) => `export const subject = ({ n }) => "Number " + n;
export default function Mail({ n }) { return <p>${text} {n}</p>; }`;
