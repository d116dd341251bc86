/** What a harness keeps of the turns that it has done: nothing that grows with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askChild } from "./child.ts";
import { megabytes, say } from "./measure.ts";
import type { TurnsRequest } from "./turns-child.ts";

const FEW = 1_000;
const MANY = 10_000;
const TIMES_MAX = 1.2;

export async function benchTurns(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    const request: TurnsRequest = { path: join(folder, "turns.db"), notes: [FEW, MANY] };
    const resident = (await askChild("./turns-child.ts", request)) as number[];
    const [few = Number.NaN, many = Number.NaN] = resident;
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
