import { once } from "node:events";
import { type Command, InvalidArgumentError } from "commander";
import { PosthasteError } from "../errors.ts";
import { configurationOf } from "./context.ts";

/** Registers `posthaste preview`: React Email's own preview of the templates, until it is stopped. */
export function registerPreview(program: Command): void {
  program
    .command("preview")
    .description("Shows the templates in React Email's own preview, redrawn at each save. Needs no database.")
    .option("--port <number>", "where to listen; the next free one when it is in use", parsePort, 3000)
    .action(async ({ port }: { port: number }, command: Command) => {
      const { config } = await configurationOf(command, { sends: false });
      const { startPreview } = await import("../templates/preview.ts");
      const preview = await startPreview(config.emails, port);
      process.stdout.write(
        `${config.emails} is shown at ${preview.url}; Ctrl+C ends it.\n` +
          "Its spam check and its button to send a test hand the HTML to React Email's vendor.\n",
      );
      const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]).then(() => true);
      const asked = await Promise.race([stopped, preview.ended.then(() => false)]);
      await preview.close();
      if (!asked) throw new PosthasteError("The preview ended by itself; start it again.");
    });
}

/** Reads the number of a TCP port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 1 to 65535.");
}
