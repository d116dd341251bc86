/** `report`: functions of a result, one format a file. */
export { type GeneratedCase, generatedCaseReport } from "./generated-case.ts";
export { jsonReport } from "./json.ts";
export { terminalReport } from "./terminal.ts";
export { timelineReport } from "./timeline.ts";
