/** What a harness keeps of the turns that it has done: nothing that grows with them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childProgram } from "../src/subprocess/index.ts";
import { say } from "./measure.ts";
import type { TurnsRequest } from "./turns-child.ts";

const FEW = 1_000;
const MANY = 10_000;
const TIMES_MAX = 1.2;

export async function benchTurns(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    const entry = fileURLToPath(new URL("./turns-child.ts", import.meta.url));
    const { launcher, program, codeCache, requireFrom } = await childProgram({ entry });
    const request: TurnsRequest = { path: join(folder, "turns.db"), notes: [FEW, MANY] };
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [launcher, program, codeCache, requireFrom],
      {
        input: JSON.stringify(request),
        env: {},
        encoding: "utf8",
      },
    );
    if (status !== 0) throw new Error(`the child of the bench ended with ${status}: ${stderr}`);
    const [few = Number.NaN, many = Number.NaN] = JSON.parse(stdout) as number[];
    const ratio = many / few;
    say({
      name: "SQLite, resident after 10,000 turns / after 1,000",
      isMet: ratio <= TIMES_MAX,
      figures: `${ratio.toFixed(2)} × (goal ≤ ${TIMES_MAX})`,
      detail: `${megabytes(many)} against ${megabytes(few)}`,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
