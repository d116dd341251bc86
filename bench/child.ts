/**
 * A process of its own, from a bundle, as users run it: for what a process that has done other things before cannot
 * tell, and for what a TypeScript loader makes slower.
 */
import { type SpawnSyncOptions, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { childProgram } from "../src/subprocess/index.ts";

/** Runs a program of this folder, which takes a request and gives an answer as JSON. */
export async function askChild(file: string, request: object): Promise<unknown> {
  const { stdout } = await spawn(file, request, { stdio: "pipe" });
  return JSON.parse(stdout.toString());
}

/** Runs a program of this folder, which takes a request as JSON and prints its figures itself. */
export async function runChild(file: string, request: object): Promise<void> {
  await spawn(file, request, { stdio: ["pipe", "inherit", "inherit"] });
}

async function spawn(
  file: string,
  request: object,
  { stdio }: Required<Pick<SpawnSyncOptions, "stdio">>,
): Promise<SpawnSyncReturns<Buffer>> {
  const entry = fileURLToPath(new URL(file, import.meta.url));
  const { launcher, program, codeCache, requireFrom } = await childProgram({ entry });
  const args = [launcher, program, codeCache, requireFrom];
  const child = spawnSync(process.execPath, args, { input: JSON.stringify(request), env: {}, stdio });
  if (child.status !== 0) throw new Error(`${file} ended with ${child.status}: ${child.stderr}`);
  return child;
}
