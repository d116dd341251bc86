import type { Scenario } from "../src/faults/index.ts";

/** What can go wrong with a call before and during its execution: thrown, unknown, wrong arguments. */
export default {
  name: "tool-error",
  title: "a tool that throws, a tool that does not exist, arguments that do not fit; the model copes",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 500 } },
  tools: [
    { name: "delete_file", replay: "never", does: { kind: "throws", message: "EACCES: permission denied" } },
    {
      name: "read_file",
      replay: "safe",
      requires: ["path"],
      does: { kind: "answers", text: "contents of {arguments}" },
    },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "delete_file", arguments: { path: "/etc/hosts" } },
          { id: "call-2", name: "rename_file", arguments: { path: "/etc/hosts" } },
          {
            id: "call-3",
            name: "read_file",
            arguments: { file: "/etc/hosts" },
            argumentsText: '{"file":"/etc/hosts"',
          },
        ],
        stopReason: "toolUse",
        usage: { input: 80, output: 30 },
      },
    ],
    [
      { stopReason: "error", errorMessage: "503 service unavailable", usage: { input: 0, output: 0 } },
      { text: "The file could not be deleted.", stopReason: "stop", usage: { input: 190, output: 14 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Delete /etc/hosts." }],
} as const satisfies Scenario;
