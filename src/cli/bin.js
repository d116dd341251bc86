#!/usr/bin/env node
/**
 * The launcher. In a checkout, where the sources stand beside it, it runs them; in the published package, which holds
 * none, it runs the compiled JavaScript without any loader.
 */
import { existsSync } from "node:fs";

const sources = new URL("./main.ts", import.meta.url);

async function load() {
  if (!existsSync(sources)) return import("../../dist/src/cli/main.js");
  const { register } = await import("tsx/esm/api");
  register();
  return import(sources.href);
}

// A reader that has seen enough (`| head`) is no failure. A report that nobody can be given is one, and not a verdict.
process.stderr.on("error", () => undefined);
process.stdout.on("error", (error) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`crashproof itself failed: the report could not be written: ${error.message}\n`);
  process.once("exit", () => {
    process.exitCode = 4;
  });
});

// Whoever ends it by hand leaves no more behind than one that came to its end: what is due at an exit is done, and then
// the signal has its way, so that a shell sees by what it ended.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    process.once("exit", () => process.kill(process.pid, signal));
    process.exit();
  });
}

const { main } = await load();
process.exitCode = await main(process.argv.slice(2));
