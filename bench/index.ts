/** `npm run bench`: every figure as a ratio to a floor measured in the same run. Goals that are missed are said. */
import { benchCommits } from "./commits.ts";
import { benchReads } from "./reads.ts";

await benchCommits();
await benchReads();
