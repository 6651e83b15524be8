#!/usr/bin/env node
import process from "node:process";

// Nothing else is imported before this: an older Node.js cannot even read what it would import.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`posthaste needs Node.js 22.18 or later; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { runProgram } = await import("./run-program.ts");
  await runProgram();
}
