import { describe, expect, it } from "vitest";
import { configuration, digest, FIRST, Story, TEXTS, zeros } from "../../fixtures/txlog/story.ts";
import type { CurrentProcess, RecoveryPlan } from "./plan.ts";
import { planRecovery } from "./planner.ts";
import { reduce } from "./reduction.ts";

const READ = ["read", '{"path":"README.md"}'] as const;
const DEPLOY = ["deploy", '{"to":"production"}'] as const;
const NEVER = { replay: "never", replayKey: "builtin:deploy:v1" };
const INTERRUPTED = "Operation interrupted after execution status became unknown; the tool was not replayed.";

const current: CurrentProcess = {
  configurationDigest: digest(configuration),
  environmentIdentity: "here",
  tools: [
    { name: "read", definitionDigest: zeros, replay: "safe", replayKey: "builtin:read:v1" },
    { name: "deploy", definitionDigest: zeros, replay: "never", replayKey: "builtin:deploy:v1" },
  ],
};
const withRead = (change: object): CurrentProcess => ({
  ...current,
  tools: current.tools.map((tool) => (tool.name === "read" ? { ...tool, ...change } : tool)),
});

function plan(story: Story, process: CurrentProcess = current): RecoveryPlan {
  const reduction = reduce(story.bytes);
  if (!reduction.ok) throw new Error(`the story is refused: ${JSON.stringify(reduction.error)}`);
  return planRecovery(reduction.value.live(), process);
}

const run = () => new Story().run();
const asked = (...calls: Parameters<Story["ask"]>[0]) => run().attempt().ask(calls);
const ranTool = () => asked(READ).start(0).result(0);
const compacting = () =>
  run().attempt().answer().complete().run("b").attempt().answer("c").complete().compact(1);

const call = (story: Story, toolIndex: number, toolName: string) => ({
  assistantEntryId: story.assistantEntryId,
  toolIndex,
  toolCallId: `call_${toolIndex}`,
  toolName,
});

interface Row {
  readonly row: string;
  readonly story: Story;
  readonly current?: CurrentProcess;
  readonly plan: RecoveryPlan;
}

function row(
  name: string,
  story: Story,
  expected: (story: Story) => RecoveryPlan,
  process?: CurrentProcess,
): Row {
  return { row: name, story, plan: expected(story), ...(process === undefined ? {} : { current: process }) };
}

const blocked = (reason: Extract<RecoveryPlan, { type: "blocked" }>["reason"]) => (): RecoveryPlan => ({
  type: "blocked",
  reason,
});
const aborted = (): RecoveryPlan => ({ type: "finish", outcome: "aborted" });
const completed =
  (completion: "normal" | "truncated") =>
  (story: Story): RecoveryPlan => ({
    type: "finish",
    outcome: "completed",
    completion,
    finalEntryId: story.assistantEntryId,
  });
const firstStep = (story: Story): RecoveryPlan => ({
  type: "startStep",
  stepKind: story.operationKind === "run" ? "assistant" : "compaction",
  attempt: 1,
  contextThroughEntryId: story.boundary,
});
const emptyAnswer = (): RecoveryPlan => ({
  type: "finish",
  outcome: "failed",
  error: { code: "empty_answer", message: "the model stopped without an answer" },
});

const rows: readonly Row[] = [
  row("1: idle", run().attempt().answer().complete(), () => ({
    type: "finish",
    outcome: "completed",
    completion: "normal",
  })),
  row("2: abort with an open request", run().attempt().abort(), () => ({
    type: "closeAttempt",
    error: { code: "aborted", message: "Operation aborted" },
  })),
  row("2: abort with an open request of a compaction", compacting().attempt().abort("compact"), () => ({
    type: "closeAttempt",
    error: { code: "aborted", message: "Operation aborted" },
  })),
  row(
    "3: abort with a pending call and one that was not started",
    asked(READ, DEPLOY).start(0).abort(),
    (story) => ({
      type: "appendSynthetic",
      results: [
        {
          ...call(story, 0, "read"),
          reason: "interrupted",
          content: INTERRUPTED,
          toolStartedId: story.toolStartedId,
          resultEntryId: story.resultEntryId,
        },
        { ...call(story, 1, "deploy"), reason: "aborted", content: TEXTS.aborted },
      ],
    }),
  ),
  row(
    "3: abort after some calls were answered",
    asked(READ, DEPLOY, READ).start(0).result(0).synthetic(1, "aborted").abort(),
    (story) => ({
      type: "appendSynthetic",
      results: [{ ...call(story, 2, "read"), reason: "aborted", content: TEXTS.aborted }],
    }),
  ),
  row("3: abort of an answer that was cut", run().attempt().ask([READ], "length").abort(), (story) => ({
    type: "appendSynthetic",
    results: [{ ...call(story, 0, "read"), reason: "aborted", content: TEXTS.aborted }],
  })),
  row("4: abort before a step", run().abort(), aborted),
  row("4: abort after the request was closed", run().attempt().abort().stepFailed("aborted"), aborted),
  row("4: abort after all calls were answered", ranTool().abort(), aborted),
  row("4: abort after a final answer", run().attempt().answer().abort(), aborted),
  row("4: abort of a compaction without a step", compacting().abort("compact"), aborted),
  row("5: no step", run(), firstStep),
  row("5: no step of a run with a later message", run().user("and this"), firstStep),
  row(
    "5: no step of a run after a compaction",
    compacting().attempt().summarize().completeCompaction().run("d"),
    firstStep,
  ),
  row("5: no step of a compaction", compacting(), firstStep),
  row("6: the step failed", run().attempt().stepFailed(), () => ({
    type: "finish",
    outcome: "failed",
    error: { code: "model_error", message: "provider request failed" },
  })),
  row("7: the second attempt is open", run().attempt().repeat(), blocked("attempts_exhausted")),
  row("7 before 8", run().attempt().repeat(), blocked("attempts_exhausted"), {
    ...current,
    configurationDigest: zeros,
  }),
  row("8: an open request of another configuration", run().attempt(), blocked("configuration_changed"), {
    ...current,
    configurationDigest: zeros,
  }),
  row("9: an open request", run().attempt(), (story) => ({
    type: "startStep",
    stepKind: "assistant",
    attempt: 2,
    stepId: story.stepId,
    contextThroughEntryId: FIRST.input,
  })),
  row("9: an open request of a compaction", compacting().attempt(), (story) => ({
    type: "startStep",
    stepKind: "compaction",
    attempt: 2,
    stepId: story.stepId,
    contextThroughEntryId: story.boundary,
  })),
  row("10: a summary", compacting().attempt().summarize(), (story) => ({
    type: "finish",
    outcome: "completed",
    finalEntryId: story.resultEntryId,
  })),
  row("11: an answer cut inside its calls", run().attempt().ask([READ, DEPLOY], "length"), (story) => ({
    type: "appendSynthetic",
    results: [
      { ...call(story, 0, "read"), reason: "truncated", content: TEXTS.truncated },
      { ...call(story, 1, "deploy"), reason: "truncated", content: TEXTS.truncated },
    ],
  })),
  row(
    "11: an answer of which some calls are answered",
    run().attempt().ask([READ, DEPLOY], "length").synthetic(0, "truncated"),
    (story) => ({
      type: "appendSynthetic",
      results: [{ ...call(story, 1, "deploy"), reason: "truncated", content: TEXTS.truncated }],
    }),
  ),
  row(
    "12: a cut answer, all calls answered",
    run().attempt().ask([READ], "length").synthetic(0, "truncated"),
    completed("truncated"),
  ),
  row("13: a final answer", run().attempt().answer(), completed("normal")),
  row("13: a final answer after a tool", ranTool().attempt().answer(), completed("normal")),
  row(
    "13: a final answer of a later run of text alone",
    ranTool().attempt().answer().complete().run("thanks").attempt().answer("welcome"),
    completed("normal"),
  ),
  row("14: a cut answer without calls", run().attempt().ask([], "length"), emptyAnswer),
  row("14: a blank final answer", run().attempt().answer(" \n"), emptyAnswer),
  row("14: no final answer", run().attempt().answer(null), emptyAnswer),
  row("15: all calls came back", ranTool(), firstStep),
  row("15: all calls were answered without a start", asked(READ).synthetic(0, "invalidArguments"), firstStep),
  row("16: a call of an unknown tool", asked(["missing", "{}"], READ), (story) => ({
    type: "appendSynthetic",
    results: [{ ...call(story, 0, "missing"), reason: "unknownTool", content: TEXTS.unknownTool }],
  })),
  row("16 before 17", asked(["missing", "null"]), (story) => ({
    type: "appendSynthetic",
    results: [{ ...call(story, 0, "missing"), reason: "unknownTool", content: TEXTS.unknownTool }],
  })),
  ...[
    "null",
    "[]",
    "",
    "{",
    '"x"',
    '{"a":"\\ud800"}',
    '{"a":1e999}',
    `{"a":${"[".repeat(999)}${"]".repeat(999)}}`,
  ].map((text) =>
    row(`17: arguments ${text.slice(0, 20)}`, asked(["read", text]), (story) => ({
      type: "appendSynthetic",
      results: [{ ...call(story, 0, "read"), reason: "invalidArguments", content: TEXTS.invalidArguments }],
    })),
  ),
  row("18: a call", asked(READ), (story) => ({
    type: "startTool",
    mode: "start",
    assistantEntryId: story.assistantEntryId,
    toolIndex: 0,
    toolName: "read",
    arguments: { path: "README.md" },
  })),
  row(
    "18: the second call, after the first was answered",
    asked(["missing", "{}"], DEPLOY).synthetic(0, "unknownTool"),
    (story) => ({
      type: "startTool",
      mode: "start",
      assistantEntryId: story.assistantEntryId,
      toolIndex: 1,
      toolName: "deploy",
      arguments: { to: "production" },
    }),
  ),
  row(
    "18: a call with the id of an earlier run's call",
    ranTool().attempt().answer().complete().run("again").attempt().ask([READ]),
    (story) => ({
      type: "startTool",
      mode: "start",
      assistantEntryId: story.assistantEntryId,
      toolIndex: 0,
      toolName: "read",
      arguments: { path: "README.md" },
    }),
  ),
  row("18: minus zero is zero", asked(["read", '{"a":-0}']), (story) => ({
    type: "startTool",
    mode: "start",
    assistantEntryId: story.assistantEntryId,
    toolIndex: 0,
    toolName: "read",
    arguments: { a: 0 },
  })),
  row("19: a pending call of another environment", asked(READ).start(0), blocked("environment_changed"), {
    ...current,
    environmentIdentity: "there",
  }),
  row(
    "19 before 21: also one that is never replayed",
    asked(DEPLOY).start(0, NEVER),
    blocked("environment_changed"),
    {
      ...current,
      environmentIdentity: "there",
    },
  ),
  row("20: a pending call of a tool that is gone", asked(READ).start(0), blocked("configuration_changed"), {
    ...current,
    tools: [],
  }),
  row(
    "20: a pending call of a tool without a definition",
    asked(READ).start(0),
    blocked("configuration_changed"),
    withRead({ definitionDigest: "" }),
  ),
  row(
    "20 before 21: also one that is never replayed",
    asked(DEPLOY).start(0, NEVER),
    blocked("configuration_changed"),
    { ...current, tools: [] },
  ),
  row("21: a pending call that is never replayed", asked(DEPLOY, READ).start(0, NEVER), (story) => ({
    type: "appendSynthetic",
    results: [
      {
        ...call(story, 0, "deploy"),
        reason: "interrupted",
        content: INTERRUPTED,
        toolStartedId: story.toolStartedId,
        resultEntryId: story.resultEntryId,
      },
    ],
  })),
  row(
    "22: a safe call whose tool is never replayed now",
    asked(READ).start(0),
    blocked("replay_declaration_changed"),
    withRead({ replay: "never" }),
  ),
  row(
    "22: a safe call whose tool has another replay key",
    asked(READ).start(0),
    blocked("replay_declaration_changed"),
    withRead({ replayKey: "builtin:read:v2" }),
  ),
  row("23: a safe call of another configuration", asked(READ).start(0), blocked("configuration_changed"), {
    ...current,
    configurationDigest: zeros,
  }),
  row("24: a safe call", asked(READ).start(0, { arguments: { path: "LICENSE" } }), (story) => ({
    type: "startTool",
    mode: "replay",
    assistantEntryId: story.assistantEntryId,
    toolIndex: 0,
    toolStartedId: story.toolStartedId,
    toolName: "read",
    arguments: { path: "LICENSE" },
  })),
  row("24: the pending call before one that was not started", asked(READ, DEPLOY).start(0), (story) => ({
    type: "startTool",
    mode: "replay",
    assistantEntryId: story.assistantEntryId,
    toolIndex: 0,
    toolStartedId: story.toolStartedId,
    toolName: "read",
    arguments: { path: "README.md" },
  })),
];

describe("the recovery planner", () => {
  it.each(rows.map((each) => [each.row, each] as const))("plans row %s", (_name, each) => {
    expect(plan(each.story, each.current)).toStrictEqual(each.plan);
  });

  it("covers every row of the table", () => {
    const covered = new Set(rows.map((each) => Number.parseInt(each.row, 10)));
    expect([...covered].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  });

  it("starts the lowest open call also where a later one is pending", () => {
    // The later call has its intent, the earlier one was never started: the earlier one is the lowest open call.
    const story = asked(DEPLOY, READ).start(1);
    expect(plan(story)).toMatchObject({ type: "startTool", mode: "start", toolIndex: 0 });
  });
});
