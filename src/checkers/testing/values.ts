/** Small right values from which histories are made. */
import {
  type AssistantMessage,
  type LaneConfiguration,
  type StopReason,
  type Usage,
  type Write,
  zeroUsage,
} from "../../model/index.ts";

export const CONFIGURATION: LaneConfiguration = {
  model: { provider: "scripted", modelId: "model" },
  thinkingLevel: "off",
  activeToolNames: ["read", "delete"],
};

/** One millionth of a dollar a token, as the scripted world bills. */
export function usageOf(input: number, output: number): Usage {
  const usd = (tokens: number) => tokens / 1_000_000;
  return {
    ...zeroUsage(),
    input,
    output,
    totalTokens: input + output,
    cost: { ...zeroUsage().cost, input: usd(input), output: usd(output), total: usd(input + output) },
  };
}

export function assistant(stopReason: StopReason, rest: Partial<AssistantMessage>): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: "scripted",
    provider: "scripted",
    model: "model",
    usage: zeroUsage(),
    stopReason,
    timestamp: 0,
    ...rest,
  };
}

/** Sets a register. */
export function set<N extends Extract<Write, { op: "set" }>["namespace"]>(
  namespace: N,
  key: string,
  value: Extract<Write, { op: "set"; namespace: N }>["value"],
): Write {
  return { kind: "register", op: "set", namespace, key, value } as Write;
}

/** Deletes a register. */
export function drop(namespace: Extract<Write, { op: "delete" }>["namespace"], key: string): Write {
  return { kind: "register", op: "delete", namespace, key };
}
