/** `report`: functions of a result, one format a file. */
export { jsonReport } from "./json.ts";
export { terminalReport } from "./terminal.ts";
export { timelineReport } from "./timeline.ts";
