import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installDebianPackage } from "../debian-package.ts";

/** A page of a headless Chromium. */
export interface Browser {
  /** Opens a page and waits until `ready`, an expression, is truthy there; its value. */
  open(url: string, ready: string): Promise<unknown>;
  /** Value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Size of the window, and whether the reader prefers dark. */
  emulate(width: number, height: number, dark: boolean): Promise<void>;
  /** The page as PNG. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Starts Chromium: the machine's, or Debian's package, which is installed when this is root's process. Throws when there is none to be had, and says what to do. */
export async function startBrowser(): Promise<Browser> {
  const program = findChromium() ?? installChromium();
  const profile = await mkdtemp(join(tmpdir(), "posthaste-chromium-"));
  const child = spawn(
    program,
    [
      ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
      ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "close");
  const browser = await connect(await debuggerUrl(child));
  const { targetId } = await browser.call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.call("Target.attachToTarget", { targetId, flatten: true });
  const call = (method: string, params: object = {}) => browser.call(method, params, sessionId);

  async function evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  return {
    evaluate,
    async open(url, ready) {
      await call("Page.navigate", { url });
      for (const deadline = performance.now() + 60_000; performance.now() < deadline; ) {
        // While the page is changed for another there is nothing to ask.
        const value = await evaluate(ready).catch(() => null);
        if (value) return value;
        await new Promise((next) => setTimeout(next, 100));
      }
      throw new Error(`${url} is not ready after 60 s: ${ready}`);
    },
    async emulate(width, height, dark) {
      await call("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: width < 600,
      });
      const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
      await call("Emulation.setEmulatedMedia", { features });
    },
    screenshot: async () =>
      Buffer.from((await call("Page.captureScreenshot", { captureBeyondViewport: true })).data, "base64"),
    async close() {
      browser.close();
      child.kill("SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function findChromium(): string | null {
  const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return process.env.CHROMIUM ?? places.find((place) => existsSync(place)) ?? null;
}

function installChromium(): string {
  if (!installDebianPackage("chromium")) {
    throw new Error(
      "This test drives the preview in Chromium, which is not here. Install it (Debian: apt-get install chromium), or name its program in CHROMIUM.",
    );
  }
  return findChromium() ?? "chromium";
}

async function debuggerUrl(child: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      const [, url] = /DevTools listening on (ws:\S+)/.exec(said) ?? [];
      if (url) resolve(url);
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`Chromium ended at once: ${said.slice(-1000)}`)));
  });
}

/** Chrome's DevTools protocol over a WebSocket. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of the protocol.
  const waiting = new Map<number, PromiseWithResolvers<any>>();
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(String(data));
    const promise = waiting.get(id);
    waiting.delete(id);
    if (error) promise?.reject(new Error(error.message));
    else promise?.resolve(result);
  };
  let last = 0;
  return {
    // biome-ignore lint/suspicious/noExplicitAny: answers of the protocol.
    call(method: string, params: object, sessionId?: string): Promise<any> {
      last += 1;
      const promise = Promise.withResolvers();
      waiting.set(last, promise);
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
      return promise.promise;
    },
    close: () => socket.close(),
  };
}
