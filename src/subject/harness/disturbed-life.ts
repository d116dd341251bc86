/**
 * One life in which hooks and listeners of the application fail, or the clock steps. Whoever is here beside that changes
 * nothing: the hooks say nothing and the listeners do nothing.
 */
import type { Disturbance, Scenario, Timeline } from "../../faults/index.ts";
import type { AgentHarness, HarnessEventType, HookName } from "../../harness/index.ts";
import type { Model, Models, ProviderStreamOptions } from "../../model/index.ts";

/** Every hook but the one before a tool, which has a fault of its own. */
const HOOKS: readonly HookName[] = [
  "before_run",
  "before_resume",
  "before_run_end",
  "transform_context",
  "before_request",
  "before_payload",
  "after_response",
  "after_tool",
  "before_compaction",
  "before_navigation",
];

/** What no hook may answer: no member has the type that it should have. */
const NONSENSE = {
  messages: 7,
  systemPrompt: 7,
  followUp: 7,
  streamOptions: 7,
  message: 7,
  content: 7,
  decline: true,
  compaction: 7,
  summary: 7,
};

/** Adds the hooks and listeners that fail. */
export async function disturb(
  harness: AgentHarness,
  { failingToolHook }: Scenario,
  timeline: Timeline,
  disturbance: Disturbance | undefined,
): Promise<void> {
  if (failingToolHook !== undefined) {
    harness.hooks.on("before_tool", ({ toolCallId }) => {
      if (toolCallId !== failingToolHook.call) return undefined;
      timeline.push({ kind: "fault", name: `tool hook ${failingToolHook.how} (${toolCallId})` });
      return fail(failingToolHook.how, { args: 7 });
    });
  }
  if (disturbance?.kind.place === "hook") {
    const { how } = disturbance.kind;
    for (const name of HOOKS) {
      const handler = () => (disturbance.isDue(timeline) ? fail(how, NONSENSE) : undefined);
      harness.hooks.on(name, handler as never, { id: "disturbed" });
    }
  }
  if (disturbance?.kind.place === "listener") await listen(harness, timeline, disturbance);
}

function fail(how: "throws" | "nonsense", nonsense: unknown): never {
  if (how === "throws") throw new Error("the hook broke");
  return nonsense as never;
}

/** Listens to everything in both ways that there are. */
async function listen(harness: AgentHarness, timeline: Timeline, disturbance: Disturbance): Promise<void> {
  const listener = () => {
    if (disturbance.isDue(timeline)) throw new Error("the listener broke");
  };
  for (const type of EVENTS) harness.events.on(type, listener);
  const { start } = await harness.watch();
  start(listener);
}

const EVENTS: readonly HarnessEventType[] = [
  "run_start",
  "run_resume",
  "run_end",
  "turn_start",
  "turn_end",
  "message_start",
  "message_end",
  "tool_start",
  "tool_end",
  "entry_added",
  "usage",
];

/** A registry that tells of what it sends and gets, as real ones do, so that all hooks of a request run. */
export function telling(models: Models): Models {
  const tell = async (model: Model, options: ProviderStreamOptions | undefined) => {
    await options?.onPayload?.({}, model);
    await options?.onResponse?.({ status: 200, headers: {} }, model);
  };
  return {
    getModel: (provider, id) => models.getModel(provider, id),
    getProvider: (id) => models.getProvider(id),
    getModels: () => models.getModels(),
    streamSimple: (model, context, options) => {
      const stream = tell(model, options).then(() => models.streamSimple(model, context, options));
      return {
        result: async () => (await stream).result(),
        async *[Symbol.asyncIterator]() {
          yield* await stream;
        },
      };
    },
    completeSimple: async (model, context, options) => {
      await tell(model, options);
      return models.completeSimple(model, context, options);
    },
    fetchDeferred: async (model, handle, options) => {
      await tell(model, options);
      return models.fetchDeferred(model, handle, options);
    },
    cancelDeferred: (model, handle, options) => models.cancelDeferred(model, handle, options),
  };
}
