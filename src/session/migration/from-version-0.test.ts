import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_COMPACTION_SETTINGS,
  type JsonValue,
  type LaneLastResult,
  validateRegister,
} from "../../model/index.ts";
import { checkLastResult } from "../../operation/index.ts";
import { fromVersion0 } from "./from-version-0.ts";
import type { RawRegister } from "./migration.ts";

describe("the mapping from version 0", () => {
  const id = fc.stringMatching(/^[a-z]{1,3}$/);
  const ids = fc.array(id, { maxLength: 2 });
  const nullableId = fc.option(id);
  const configuration = fc.record({
    provider: id,
    modelId: id,
    thinkingLevel: fc.constantFrom("none", "low", "max"),
    tools: ids,
  });
  const cancelled = fc.option(fc.record({ at: fc.nat(), steer: ids, followUp: ids }));
  const request = {
    step: id,
    trigger: id,
    configuration,
    attempt: fc.integer({ min: 1 }),
    maxAttempts: fc.integer({ min: 1 }),
  };
  const call = fc.oneof(
    fc.record({ status: fc.constant("waiting"), result: id }),
    fc.record({ status: fc.constant("started"), result: id, arguments: fc.dictionary(id, fc.jsonValue()) }),
    fc.record({ status: fc.constant("done"), result: id, terminate: fc.boolean() }),
  );
  const sent = fc.record({ response: id, usage: id, outputLimit: fc.nat(), contextWindow: fc.nat() });
  const phase = fc.oneof(
    fc.record({
      kind: fc.constant("checkpoint"),
      trigger: id,
      next: fc.constantFrom("assistant", "finish"),
      overflowed: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("request"), ...request, sent: fc.option(sent) }),
    fc.record({ kind: fc.constant("backoff"), ...request, until: fc.nat(), message: fc.string() }),
    fc.record({
      kind: fc.constant("tools"),
      assistant: id,
      step: id,
      configuration,
      calls: fc.array(call, { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("compacting"), trigger: id }),
    fc.record({ kind: fc.constant("draining"), code: id, message: fc.string(), response: id }),
  );
  const settings = fc.constant({
    compaction: DEFAULT_COMPACTION_SETTINGS,
    steeringMode: "all",
    followUpMode: "all",
    toolExecution: "parallel",
  });
  const inbox = fc.record({ steer: ids, followUp: ids, writes: ids });
  const label = fc.string();
  const state = fc.oneof(
    fc.record({ kind: fc.constant("run"), cancelled, settings, inbox, latest: nullableId, phase }),
    fc.record(
      { kind: fc.constant("compaction"), cancelled, task: id, instructions: label, generating: fc.boolean() },
      { requiredKeys: ["kind", "cancelled", "task", "generating"] },
    ),
    fc.record(
      { kind: fc.constant("navigation"), cancelled, target: nullableId, label, task: id },
      { requiredKeys: ["kind", "cancelled", "target"] },
    ),
  );
  const intent = fc.oneof(
    fc.record({ kind: fc.constant("run"), prompts: ids }),
    fc.record({ kind: fc.constant("compaction"), instructions: label }, { requiredKeys: ["kind"] }),
    fc.record(
      { kind: fc.constant("navigation"), target: nullableId, summarize: fc.boolean(), label },
      { requiredKeys: ["kind", "target", "summarize"] },
    ),
  );
  const register = fc.oneof(
    fc.record({ namespace: fc.constant("lane.config"), key: id, value: configuration }),
    fc.record({
      namespace: fc.constant("lane.state"),
      key: id,
      value: fc.record({ operation: nullableId, nextRun: ids }),
    }),
    fc.record({
      namespace: fc.constant("lane.lastResult"),
      key: id,
      value: fc.record(
        {
          operation: id,
          kind: fc.constantFrom("run", "compaction", "navigation"),
          leaf: nullableId,
          outcome: fc.constantFrom("completed", "declined", "aborted", "failed"),
          message: fc.string(),
          assistant: id,
        },
        { requiredKeys: ["operation", "kind", "leaf", "outcome"] },
      ),
    }),
    fc.record({
      namespace: fc.constant("op.meta"),
      key: id,
      value: fc.record({ operation: id, lane: id, leaf: nullableId, startedAt: fc.nat(), intent }),
    }),
    { weight: 6, arbitrary: fc.record({ namespace: fc.constant("op.state"), key: id, value: state }) },
    fc.record({
      namespace: fc.constant("pending.entry"),
      key: id,
      value: fc.oneof(
        fc.record({ message: fc.constant({ role: "user", content: "hi", timestamp: 1 }) }),
        fc.record({ custom: id, data: fc.jsonValue() }, { requiredKeys: ["custom"] }),
      ),
    }),
    fc.record({ namespace: fc.constant("fact.custom"), key: id, value: fc.jsonValue() }),
  ) as fc.Arbitrary<RawRegister>;

  it("is total: whatever version 0 could leave becomes a value of version 1, and is converted once", () => {
    fc.assert(
      fc.property(register, (old) => {
        const changes = fromVersion0.convert([old]);
        const [main = old] = changes.filter(({ namespace }) => namespace === old.namespace);
        const all = [main, ...changes.filter(({ namespace }) => namespace !== old.namespace)];
        for (const { namespace, key, value } of all) {
          expect({ namespace, issue: validateRegister(namespace, value) }).toEqual({
            namespace,
            issue: undefined,
          });
          expect(fromVersion0.convert([{ namespace, key, value: value as JsonValue }])).toEqual([]);
        }
        const isFact = old.namespace === "fact.custom";
        expect(changes.length > 0).toBe(!isFact);
      }),
      { numRuns: 500 },
    );
  });

  const convertedOf = (namespace: RawRegister["namespace"], value: object) =>
    fromVersion0.convert([{ namespace, key: "main", value: value as JsonValue }])[0]?.value;

  it.each([
    ["a response", { assistant: "R" }, { finalAssistantEntryId: "R", runCompletion: "assistant" }],
    ["its tools", {}, { runCompletion: "terminated_tools" }],
  ])("says what completed a run, so that its result can be read: %s", (_what, found, converted) => {
    const old = { operation: "O", kind: "run", leaf: "e1", outcome: "completed", ...found };
    const result = convertedOf("lane.lastResult", old) as unknown as LaneLastResult;
    expect(result).toEqual({
      operationId: "O",
      kind: "run",
      leafId: "e1",
      outcome: "completed",
      ...converted,
    });
    expect(checkLastResult("main", result)).toBe(result);
  });

  it.each([
    ["its response", "R", true],
    ["the results of its tools", "r1", false],
  ])("lets a run end with %s", (_what, trigger, includeFinalAssistant) => {
    const settings = {
      compaction: DEFAULT_COMPACTION_SETTINGS,
      steeringMode: "all",
      followUpMode: "all",
      toolExecution: "parallel",
    };
    const phase = { kind: "checkpoint", trigger, next: "finish", overflowed: false };
    const inbox = { steer: [], followUp: [], writes: [] };
    const old = { kind: "run", cancelled: null, settings, inbox, latest: "R", phase };
    expect(convertedOf("op.state", old)).toMatchObject({
      phase: { continuation: { kind: "may_finish", includeFinalAssistant }, triggerEntryId: trigger },
    });
  });
});
