/** How a command is called here: npm links no package's program into that package's own repository. */
export function calledAs(command: string): string {
  if (process.env.npm_package_name !== "posthaste") return `npx posthaste ${command}`;
  return ["demo", "dev"].includes(command) ? `npm run ${command}` : `npm run -s posthaste -- ${command}`;
}
