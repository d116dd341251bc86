/**
 * `npm run bench`: every figure as a ratio to a floor measured in the same run. Goals that are missed are said.
 * Arguments choose parts: `npm run bench -- commits reads sessions turns states kills txlog`.
 */
import { benchCommits } from "./commits.ts";
import { benchCrashStates } from "./crash-states.ts";
import { benchKills } from "./kills.ts";
import { benchReads } from "./reads.ts";
import { benchSessions } from "./sessions.ts";
import { benchTurns } from "./turns.ts";
import { benchTxlog } from "./txlog.ts";

const PARTS = new Map([
  ["commits", benchCommits],
  ["reads", benchReads],
  ["sessions", benchSessions],
  ["turns", benchTurns],
  ["states", benchCrashStates],
  ["kills", benchKills],
  ["txlog", benchTxlog],
]);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !PARTS.has(name));
if (unknown.length > 0) {
  // Nothing measured would look like nothing missed.
  process.stderr.write(
    `no part of the bench is called ${unknown.join(", ")}; there are ${[...PARTS.keys()].join(", ")}\n`,
  );
  process.exitCode = 2;
} else {
  for (const [name, part] of PARTS) if (wanted.length === 0 || wanted.includes(name)) await part();
}
