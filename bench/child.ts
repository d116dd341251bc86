/** A process of its own for what a process that has done other things before cannot tell. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { childProgram } from "../src/subprocess/index.ts";

/** Runs a program of this folder, which takes a request and gives an answer as JSON. */
export async function askChild(file: string, request: object): Promise<unknown> {
  const entry = fileURLToPath(new URL(file, import.meta.url));
  const { launcher, program, codeCache, requireFrom } = await childProgram({ entry });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [launcher, program, codeCache, requireFrom],
    { input: JSON.stringify(request), env: {}, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
