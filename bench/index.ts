/**
 * `npm run bench`: every figure as a ratio to a floor measured in the same run. Goals that are missed are said.
 * Arguments choose parts: `npm run bench -- commits reads states kills txlog`.
 */
import { benchCommits } from "./commits.ts";
import { benchCrashStates } from "./crash-states.ts";
import { benchKills } from "./kills.ts";
import { benchReads } from "./reads.ts";
import { benchTxlog } from "./txlog.ts";

const PARTS = {
  commits: benchCommits,
  reads: benchReads,
  states: benchCrashStates,
  kills: benchKills,
  txlog: benchTxlog,
};

const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS))
  if (wanted.length === 0 || wanted.includes(name)) await part();
