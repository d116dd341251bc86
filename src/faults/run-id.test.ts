import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRunId, parseRunId, type RunId } from "./run-id.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
const cut = fc
  .record({
    label: fc.stringMatching(/^[a-z]{1,8}(\.[a-z-]{1,8}){0,2}$/),
    occurrence: fc.integer({ min: 1, max: 99 }),
    position: fc.constantFrom("before" as const, "inside" as const, "after" as const),
    bytesWritten: fc.option(fc.nat(99_999), { nil: undefined }),
  })
  .map(({ bytesWritten, ...rest }) => (bytesWritten === undefined ? rest : { ...rest, bytesWritten }));

const runId: fc.Arbitrary<RunId> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("walk" as const, "drives" as const, "determinism" as const),
    scenario: name,
    subject: name,
    cuts: fc.constant([]),
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constantFrom(
      "crash" as const,
      "kill" as const,
      "takeover" as const,
      "backends" as const,
      "determinism" as const,
    ),
    scenario: name,
    subject: fc.oneof(name, fc.constantFrom("canary:effect-before-intent", "memory=jsonl=sqlite")),
    cuts: fc.array(cut, { minLength: 1, maxLength: 3 }),
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constant("torn" as const),
    scenario: name,
    subject: fc.oneof(name, fc.constant("canary:damaged-line-skipped")),
    cuts: fc.constant([]),
    fault: fc.constantFrom("tool.settle#2:cut@117", "lane.seed#1:doubled"),
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constantFrom("disk-fault" as const, "world-fault" as const, "lease" as const),
    scenario: name,
    subject: name,
    cuts: fc.constant([]),
    fault: fc.constantFrom(
      "tool.settle#2:cut@117",
      "reply-malformed.null@2+tool.settle#1:after",
      "resume@17",
    ),
    seed: fc.nat(),
  }),
  fc.record({
    kind: fc.constant("race" as const),
    scenario: name,
    subject: fc.oneof(name, fc.constant("canary:consumed-item-cancelled")),
    order: fc.constantFrom("abort-first", "response-first", "steps@0.1.0"),
    cuts: fc.array(cut, { maxLength: 2 }),
    seed: fc.nat(),
  }),
);

describe("run ids", () => {
  it("survive being printed and read", () => {
    fc.assert(
      fc.property(runId, (id) => {
        expect(parseRunId(formatRunId(id))).toEqual({ ok: true, value: id });
      }),
    );
  });

  it.each([
    ["", "a kind of run"],
    ["crush/two-tools/memory", "a kind of run"],
    ["crash", "a scenario"],
    ["crash/two-tools", "a subject"],
    ["crash/two-tools/memory", "at least one cut"],
    ["walk/two-tools/memory/tool.settle#1:after", "no cut"],
    ["crash/two-tools/memory/tool.settle#1:beside", "a cut such as"],
    ["race/abort-vs-settlement/jsonl", "a subject"],
    ["race/abort-vs-settlement/jsonl/Abort first", "an order of the race"],
    ["crash/two-tools/memory/tool.settle#0:after", "a cut such as"],
    ["crash/two-tools/memory/tool.settle#1:after?seed=", "nothing behind a ? but seed="],
    ["crash/two-tools/memory/tool.settle#1:after?seed=one", "nothing behind a ? but seed="],
    ["crash/two-tools/memory/tool.settle#1:after?seed=99999999999999999999", "nothing behind a ? but seed="],
    ["crash/two-tools/memory/tool.settle#1:after?seed=1?seed=2", "nothing behind a ? but seed="],
    ["walk/two-tools/memory?depth=2", "nothing behind a ? but seed="],
    ["fuzz/plain/memory/x", "the path to a case"],
    ["fuzz/plain/memory/3.5", "the path to a case"],
    ["fuzz/plain/memory/3:", "the path to a case"],
    ["torn/two-tools/jsonl", "a subject and a fault"],
    ["torn/two-tools/jsonl/a fault", "a subject and a fault"],
    ["torn/two-tools/jsonl/nonsense", "a commit and its damage"],
  ])("refuses %j, saying what was expected", (text, expected) => {
    const parsed = parseRunId(text);
    expect(parsed.ok ? "accepted" : parsed.error.message).toContain(expected);
  });
});
