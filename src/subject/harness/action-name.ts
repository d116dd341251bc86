/**
 * The names of the actions of a manual drive, as races name the moments at which something is called: what it is, and of
 * which kind, without ids. `generation_started`, `settle assistant`, `settle tool 0`, `end run completed`, `request`,
 * `request summary`, `execute send_payment`, `hook before_run_end`, `sleep`.
 */
import type { ActionInfo } from "../../harness/index.ts";

/** See the module header. */
export function actionName({ kind, details }: ActionInfo): string {
  const detail = (name: string): string => {
    const record = typeof details === "object" && details !== null && !Array.isArray(details) ? details : {};
    return String((record as Readonly<Record<string, unknown>>)[name] ?? "");
  };
  switch (kind) {
    case "commit_transition":
      return detail("event");
    case "commit_settlement": {
      const [effect = "", , index = ""] = detail("effect").split(":");
      return effect === "tool" ? `settle tool ${index}` : `settle ${effect}`;
    }
    case "commit_terminal":
      return `end ${detail("operation")} ${detail("outcome")}`;
    case "provider_request":
      return detail("stage") === "" ? "request" : "request summary";
    case "tool_execution":
      return `execute ${detail("toolName")}`;
    case "hook":
      return `hook ${detail("hook")}`;
    case "deferred_poll":
      return "poll";
    default:
      return kind.replaceAll("_", " ");
  }
}
