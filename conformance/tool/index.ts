/**
 * The tool suite: what a harness relies on in a tool (message types §9; spec §3.8, §4.5, §5.7).
 *
 * A harness stores the arguments of a call before it executes it, and may execute a tool that is declared `safe` again
 * with them after a crash. So preparing arguments is pure, the stored form satisfies the schema, a result is JSON, and a
 * second execution of a safe tool does what one does.
 */
import assert from "node:assert/strict";
import { Compile } from "typebox/compile";
import {
  type AgentHarnessTool,
  type AgentToolResult,
  type AgentToolUpdate,
  type JsonObject,
  validateMessage,
  validateUsageRowDraft,
} from "../../src/model/index.ts";
import type { ConformanceCase } from "../case.ts";
import { casesOf, type PromiseGroup, promiseOver, type SubjectFactory } from "../promise.ts";
import { soon } from "../soon.ts";

/** What the author can bring about. */
export type ToolCapability = "fails" | "stops" | "effects";

export interface ToolHandle {
  readonly tool: AgentHarnessTool<unknown>;
  /** What the tool is executed with as its fifth argument. */
  readonly context?: unknown;
  /** Arguments as a model gives them, with which the tool succeeds. */
  readonly arguments: JsonObject;
  /** Arguments with which it fails. Needs `fails`. */
  readonly failingArguments?: JsonObject;
  /** Arguments with which it runs until its signal fires. Needs `stops`. */
  readonly longArguments?: JsonObject;
  /** What the tool has done outside until now, as a value that can be compared. Needs `effects`. */
  effects?(): Promise<unknown>;
}

export type ToolFactory = SubjectFactory<ToolHandle, ToolCapability>;

/** The cases for one tool. */
export function createToolConformance(factory: ToolFactory): ConformanceCase[] {
  return casesOf(GROUPS, factory);
}

type Group = PromiseGroup<ToolHandle, ToolCapability>;

const promise = promiseOver<ToolHandle, ToolCapability>();

const DECLARATION: Group = {
  group: "declaration",
  promises: [
    promise(
      "has a name, a label, a description and a schema that compiles",
      "message types §9",
      [],
      async ({ tool }) => {
        for (const key of ["name", "label", "description"] as const) {
          assert.ok(typeof tool[key] === "string" && tool[key] !== "", key);
        }
        assert.doesNotThrow(() => Compile(tool.parameters), "the schema of the parameters");
      },
    ),
    promise(
      "declares a replay and an execution mode that exist, or none",
      "spec §5.7",
      [],
      async ({ tool }) => {
        assert.ok([undefined, "never", "safe"].includes(tool.replay), `replay is ${tool.replay}`);
        const modes = [undefined, "sequential", "parallel"];
        assert.ok(modes.includes(tool.executionMode), `executionMode is ${tool.executionMode}`);
      },
    ),
  ],
};

const ARGUMENTS: Group = {
  group: "arguments",
  promises: [
    promise(
      "that succeed satisfy the schema once they are prepared",
      "message types §9",
      [],
      async (handle) => {
        assert.ok(Compile(handle.tool.parameters).Check(preparedOf(handle)), "the prepared arguments");
      },
    ),
    promise(
      "are prepared the same every time, and the raw ones are left as they were",
      "spec §5.7",
      [],
      async (handle) => {
        const raw = structuredClone(handle.arguments);
        const once = JSON.stringify(handle.tool.prepareArguments?.(raw) ?? raw);
        assert.deepEqual(raw, handle.arguments, "the raw arguments");
        assert.equal(JSON.stringify(preparedOf(handle)), once, "prepared again");
      },
    ),
    promise(
      "are JSON when they are prepared, so that they can be stored",
      "spec §3.8",
      [],
      async (handle) => {
        const prepared = preparedOf(handle);
        assert.deepEqual(JSON.parse(JSON.stringify(prepared)), prepared);
      },
    ),
  ],
};

const RESULTS: Group = {
  group: "results",
  promises: [
    promise("can be stored: content blocks, and details that are JSON", "spec §5.7", [], async (handle) => {
      const { content = [], details, addedToolNames } = await execute(handle, handle.arguments);
      const message = {
        role: "toolResult",
        toolCallId: "call-1",
        toolName: handle.tool.name,
        isError: false,
        timestamp: 1,
        content,
        ...(details === undefined ? {} : { details }),
        ...(addedToolNames === undefined ? {} : { addedToolNames }),
      };
      const plain = JSON.parse(JSON.stringify(message)) as unknown;
      assert.deepEqual(plain, message, "the result is JSON");
      const issue = validateMessage(plain);
      assert.equal(issue, undefined, `${issue?.path}: ${issue?.expected} expected, ${issue?.found} found`);
    }),
    promise("report a cost that can be booked, or none", "spec §1.6", [], async (handle) => {
      const { usage } = await execute(handle, handle.arguments);
      if (usage === undefined) return;
      assert.equal(validateUsageRowDraft({ id: "usage", usage, adjustment: false }), undefined);
    }),
    promise("that fail are thrown, with a message", "message types §9", ["fails"], async (handle) => {
      const failed = await execute(handle, handle.failingArguments ?? {}).then(
        () => assert.fail("the tool succeeded"),
        (error: unknown) => error,
      );
      assert.ok(failed instanceof Error && failed.message !== "", "an Error with a message");
    }),
    promise("are not reported on after they are there", "message types §9", [], async (handle) => {
      let updates = 0;
      let isSettled = false;
      let lateCount = 0;
      await execute(handle, handle.arguments, {
        onUpdate: () => {
          updates++;
          if (isSettled) lateCount++;
        },
      });
      isSettled = true;
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(lateCount, 0, `${lateCount} of ${updates} updates came late`);
    }),
  ],
};

const SIGNALS: Group = {
  group: "signals",
  promises: [
    promise(
      "a signal that fires ends the execution, one way or the other",
      "spec §4.2",
      ["stops"],
      async (handle) => {
        const controller = new AbortController();
        const running = execute(handle, handle.longArguments ?? {}, { signal: controller.signal });
        await new Promise((resolve) => setImmediate(resolve));
        controller.abort();
        await soon(Promise.allSettled([running]), "the execution");
      },
    ),
  ],
};

const REPLAYS: Group = {
  group: "replays",
  promises: [
    promise(
      "a safe tool that is executed again has done what one execution does",
      "spec §4.5",
      ["effects"],
      async (handle) => {
        if (handle.tool.replay !== "safe") return;
        const effects = async () =>
          (await handle.effects?.()) ?? assert.fail("`effects` is declared and absent");
        await execute(handle, handle.arguments);
        const once = structuredClone(await effects());
        await execute(handle, handle.arguments);
        assert.deepEqual(await effects(), once);
      },
    ),
  ],
};

const GROUPS = [DECLARATION, ARGUMENTS, RESULTS, SIGNALS, REPLAYS];

function preparedOf({ tool, arguments: given }: ToolHandle, raw = given): JsonObject {
  const copy = structuredClone(raw);
  return (tool.prepareArguments?.(copy) ?? copy) as JsonObject;
}

async function execute(
  handle: ToolHandle,
  given: JsonObject,
  options: { signal?: AbortSignal; onUpdate?: AgentToolUpdate } = {},
): Promise<AgentToolResult> {
  const { signal = new AbortController().signal, onUpdate = () => undefined } = options;
  // The schema is the tool's own, and what satisfies it is typed by it.
  const prepared = preparedOf(handle, given) as never;
  return handle.tool.execute("call-1", prepared, signal, onUpdate, handle.context);
}
