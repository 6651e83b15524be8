import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { PosthasteError } from "../errors.ts";
import { TIMED_OUT, within } from "../timeout.ts";
import { makePreviewFolder } from "./preview-folder.ts";

/** React Email's own preview, running. */
export interface Preview {
  /** Where it is; `/preview/<name>` shows one template. */
  readonly url: string;
  /** Settles when its process has ended, asked to or not. */
  readonly ended: Promise<void>;
  /** Stops it and waits until it is gone. */
  close(): Promise<void>;
}

/** How long it may take to answer its first request, in milliseconds. */
const START_TIMEOUT = 30_000;

/**
 * Starts React Email's preview of a folder of templates: a page for every sample and locale, redrawn at each save.
 * It needs no network, is reachable from this machine only and ends with this process at the latest. It writes
 * only below node_modules, `.posthaste` beside the templates' folder, and an empty folder in the user's configuration
 * folder.
 *
 * Two things in its toolbar do use the network, when somebody presses them: the spam check and "send" hand the
 * HTML to React Email's vendor.
 * @param directory the folder of templates
 * @param port where to listen; the next free one is taken when it is in use
 * @throws PosthasteError when the folder cannot be read, react-email and @react-email/ui are not installed in the same version, or it does not start
 */
export async function startPreview(directory: string, port: number): Promise<Preview> {
  const folder = resolve(directory);
  const { program, from } = findReactEmail(folder);
  const pages = await makePreviewFolder(folder);
  const child = spawn(
    process.execPath,
    // Without its own two flags it would start itself a second time.
    [
      ...["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", "--import", PRELOAD],
      ...[program, "dev", "--dir", relative(from, pages.path), "--port", String(port)],
    ],
    {
      cwd: from,
      env: { ...process.env, NODE_ENV: "development", NEXT_TELEMETRY_DISABLED: "1" },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  const ended = new Promise<void>((done) => {
    child.once("close", () => done());
    child.once("error", () => done());
  });
  const close = async (): Promise<void> => {
    await stop(child, ended);
    await pages.close();
  };

  const started = await within(START_TIMEOUT, waitForAnswer(child)).catch((error: Error) => error);
  if (typeof started === "string") return { url: started, ended, close };
  await close();
  const reason = started === TIMED_OUT ? `no answer within ${START_TIMEOUT / 1000} s` : started.message;
  throw new PosthasteError(
    `The preview of ${folder} did not start: ${reason}. Try \`npx email dev --dir ${folder}\`.`,
  );
}

/**
 * Loaded into the preview before anything else. It listens on all interfaces of the machine, and what it shows and
 * offers ("send") is not for the whole office; and its standard input closes when this process is gone, even killed.
 */
const PRELOAD = `data:text/javascript,${encodeURIComponent(`
  import { Server } from "node:net";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) {
    return typeof port === "number" ? listen.call(this, port, "localhost", ...rest) : listen.call(this, port, ...rest);
  };
  process.stdin.on("close", () => process.exit()).resume();
`)}`;

/** Its program, and a folder from which it finds its own parts. Beside the templates first, then beside us. */
function findReactEmail(folder: string): { program: string; from: string } {
  for (const from of [dirname(folder), import.meta.dirname]) {
    const require = createRequire(join(from, "posthaste.js"));
    let main: string;
    let ui: string;
    try {
      main = require.resolve("react-email");
      ui = require.resolve("@react-email/ui");
    } catch {
      continue;
    }
    const [version, uiVersion] = [join(dirname(main), ".."), dirname(ui)].map(
      (home) => JSON.parse(readFileSync(join(home, "package.json"), "utf8")).version as string,
    );
    if (version !== uiVersion) {
      throw new PosthasteError(
        `The preview needs react-email and @react-email/ui in the same version, but they are ${version} and ${uiVersion}. Run \`npm install --save-dev --save-exact react-email@${version} @react-email/ui@${version}\`.`,
      );
    }
    return { program: join(dirname(main), "cli", "index.mjs"), from };
  }
  throw new PosthasteError(
    "The preview needs the packages react-email and @react-email/ui, which are not installed. Run `npm install --save-dev --save-exact react-email@6.11.6 @react-email/ui@6.11.6`.",
  );
}

/** The URL that it announces, once a page comes from there. */
async function waitForAnswer(child: ChildProcess): Promise<string> {
  let output = "";
  const url = await new Promise<string>((found, failed) => {
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-4000);
      const announced = /https?:\/\/localhost:\d+/.exec(output);
      if (announced) found(announced[0]);
    };
    // Also read when nobody wants it any more: a full pipe would stop the preview.
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", failed);
    child.once("close", () => failed(new Error(output.trim() || "it ended at once")));
  });
  const [response] = await Promise.race([
    fetch(url).then((answer) => [answer] as const),
    once(child, "close").then(() => [null] as const),
  ]);
  await response?.body?.cancel();
  if (!response?.ok) throw new Error(response ? `HTTP status ${response.status}` : output.trim());
  return url;
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGTERM");
  if ((await within(5000, ended)) !== TIMED_OUT) return;
  child.kill("SIGKILL");
  await ended;
}
