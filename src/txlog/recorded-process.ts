/**
 * The process that wrote a session, as far as the session tells: for tools that only look at a file and say what recovery
 * would do next in the same surroundings.
 *
 * A tool that was never started says nothing of its replay policy; it is taken to be `never`, which matters only for calls
 * that have an intent, and those have said it.
 */
import type { CurrentProcess, DeclaredTool } from "./plan.ts";
import type { SessionState, ToolCallState } from "./state.ts";

export function recordedProcess({ header, operation }: SessionState): CurrentProcess {
  if (operation.kind === "idle" || operation.step === undefined) {
    return { configurationDigest: "", environmentIdentity: header.environmentIdentity, tools: [] };
  }
  const { configurationDigest, configurationSnapshot } = operation.step;
  const calls: readonly ToolCallState[] = operation.kind === "run" ? operation.toolCalls : [];
  const tools = configurationSnapshot.tools.map(({ name, definitionDigest }): DeclaredTool => {
    const { replay, replayKey } = calls.findLast((call) => call.toolName === name) ?? NEVER;
    return { name, definitionDigest, replay, replayKey };
  });
  const environmentIdentity = calls.at(-1)?.environmentIdentity ?? header.environmentIdentity;
  return { configurationDigest, environmentIdentity, tools };
}

const NEVER = { replay: "never", replayKey: "unknown" } as const;
