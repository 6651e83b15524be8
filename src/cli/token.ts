import { type Command, Option } from "commander";
import { parseDuration } from "../configuration/durations.ts";
import { PosthasteError } from "../errors.ts";
import { answer, configurationOf } from "./context.ts";

/** Registers `posthaste token`: makes a token for `posthaste serve`. */
export function registerToken(program: Command): void {
  program
    .command("token")
    .description("Makes a token (JWT) for `posthaste serve`, signed with POSTHASTE_JWT_SECRET.")
    .addOption(
      new Option("--role <role>", "what it may: a viewer sees its own mail, an operator reads and acts")
        .choices(["viewer", "operator"])
        .makeOptionMandatory(),
    )
    .option("--for <duration>", "how long it is good: 1h, 30d", lifetimeOf, 3_600_000)
    .option("--owner <owner>", "whose mail a viewer sees")
    .option("--subject <name>", "who it is for; shows in the record of actions")
    .option("--json", "print one JSON document")
    .action(async (options: Options, command: Command) => {
      const { role, owner, subject, json, for: lifetime } = options;
      if (role === "viewer" && owner === undefined) {
        throw new PosthasteError("A viewer sees the mail of one owner: say whose with --owner.", {
          exitCode: 2,
        });
      }
      const { config } = await configurationOf(command, { sends: false });
      const { signToken } = await import("../graphql/http/sign-token.ts");
      const identity = { role, owner: owner ?? null, subject: subject ?? `${role} by token` };
      const token = await signToken(config.http.tokens, identity, lifetime);
      answer(json, { token, ...identity, expiresAt: new Date(Date.now() + lifetime) }, token);
    });
}

interface Options {
  readonly role: "viewer" | "operator";
  readonly for: number;
  readonly owner?: string;
  readonly subject?: string;
  readonly json?: boolean;
}

function lifetimeOf(text: string): number {
  const lifetime = parseDuration(text);
  if (lifetime !== null && lifetime >= 1000 && lifetime <= 366 * 86_400_000) return lifetime;
  throw new PosthasteError(
    `--for must be a duration from 1s to 366d, such as 1h or 30d; it was ${JSON.stringify(text)}.`,
    {
      exitCode: 2,
    },
  );
}
