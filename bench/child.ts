/**
 * A process of its own, from a bundle, as users run it: for what a process that has done other things before cannot
 * tell, and for what a TypeScript loader makes slower.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { childProgram } from "../src/subprocess/index.ts";

/** Runs a program of this folder, which takes a request and gives an answer as JSON. */
export async function askChild(file: string, request: object): Promise<unknown> {
  return JSON.parse(String((await spawn(file, request, "pipe")).stdout));
}

/** Runs a program of this folder, which takes a request as JSON and prints its figures itself. */
export async function runChild(file: string, request: object): Promise<void> {
  await spawn(file, request, "inherit");
}

async function spawn(file: string, request: object, output: "pipe" | "inherit") {
  const entry = fileURLToPath(new URL(file, import.meta.url));
  const { launcher, program, codeCache, requireFrom } = await childProgram({ entry });
  const child = spawnSync(process.execPath, [launcher, program, codeCache, requireFrom], {
    input: JSON.stringify(request),
    env: {},
    stdio: ["pipe", output, output],
  });
  // What a child wrote to an inherited error output has been seen.
  if (child.status !== 0)
    throw new Error(`${file} ended with ${child.status}: ${child.stderr ?? "see above"}`);
  return child;
}
