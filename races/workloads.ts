/** The workloads that most races are run over: as small as shows the race, so that every boundary can be cut. */
import type { Race } from "../src/faults/index.ts";

type Workload = Race["scenario"];

const USAGE = { input: 10, output: 5 };

/** A run of one answer. `text` may say what the request asked with; see `scripted-models.ts`. */
export function oneAnswer(text = "Done."): Workload {
  return {
    settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
    tools: [],
    turns: [
      [{ text, stopReason: "stop", usage: USAGE }],
      [{ text: "Done again.", stopReason: "stop", usage: USAGE }],
      [{ text: "Done once more.", stopReason: "stop", usage: USAGE }],
    ],
    stimuli: [{ call: "prompt", text: "Go." }],
  };
}

/** A run of one answer that is put off, and ready at the first poll. */
export function oneDeferredAnswer(): Workload {
  return {
    ...oneAnswer(),
    settings: { ...oneAnswer().settings, deferred: { window: "15m" } },
    turns: [
      [
        { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 10, output: 0 } },
        { text: "Done.", stopReason: "stop", usage: { input: 0, output: 5 } },
      ],
    ],
  };
}

/** A run of one call of a tool that may be repeated, and an answer. */
export function oneCall(changes: Partial<Workload> = {}): Workload {
  return {
    ...oneAnswer(),
    tools: [{ name: "look", replay: "safe", does: { kind: "answers", text: "seen" } }],
    turns: [
      [{ toolCalls: [{ id: "call-1", name: "look", arguments: {} }], stopReason: "toolUse", usage: USAGE }],
      [{ text: "Done.", stopReason: "stop", usage: USAGE }],
      [{ text: "Done again.", stopReason: "stop", usage: USAGE }],
      [{ text: "Done once more.", stopReason: "stop", usage: USAGE }],
    ],
    ...changes,
  };
}

/** Settings under which two turns are enough to compact. */
export const COMPACTING: Workload["settings"] = {
  retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
  compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
};

/** The summary of the first work on the tree; it may take two requests. */
export const SUMMARY: NonNullable<Workload["summaries"]> = [
  [
    [{ text: "What was done.", stopReason: "stop", usage: USAGE }],
    [{ text: "What was asked.", stopReason: "stop", usage: USAGE }],
  ],
];
