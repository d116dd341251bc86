/** A harness whose hook errors are kept, for the tests of hooks. */
import type { AgentMessage, Models, ProviderContext, ProviderStreamOptions } from "../../model/index.ts";
import type { HarnessEvent } from "../event-types.ts";
import type { World } from "./scripted.ts";

export const user = (said: string): AgentMessage => ({ role: "user", content: said, timestamp: 1 });
export const id = { id: "extension" };

/** A harness whose hook errors are kept. */
export async function hooked(world: World, options: Parameters<World["boot"]>[0] = {}) {
  const booted = await world.boot(options);
  const errors: HarnessEvent[] = [];
  booted.harness.events.on("handler_error", (event) => {
    errors.push(event);
  });
  return { ...booted, errors, hooks: booted.harness.hooks };
}

/** Sees the options of each request. */
export function seeing(world: World, seen: ProviderStreamOptions[]): Models {
  const models = world.models();
  return {
    ...models,
    streamSimple: (model, context: ProviderContext, options) => {
      seen.push(options ?? {});
      return models.streamSimple(model, context, options);
    },
  };
}
