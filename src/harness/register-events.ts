/**
 * What is told of registers that an application sets (spec §5.5): facts of the session, configuration of a lane. Pure, from
 * one write.
 */
import type { RegisterDeleteWrite, RegisterSetWrite, RegisterValues } from "../model/index.ts";
import type { FactEvent, LaneConfigurationEvent } from "./event-types.ts";

/** The fact that a write sets or deletes; undefined: it is of no fact. */
export function factEvent(write: RegisterSetWrite | RegisterDeleteWrite): FactEvent | undefined {
  const { key } = write;
  switch (write.namespace) {
    case "fact.name":
      return { type: "fact_update", fact: "name", name: write.op === "set" ? write.value : undefined };
    case "fact.label": {
      const label = write.op === "set" ? write.value : undefined;
      return { type: "fact_update", fact: "label", targetId: key, label };
    }
    case "fact.custom":
      return {
        type: "fact_update",
        fact: "custom",
        key,
        value: write.op === "set" ? write.value : undefined,
      };
    default:
      return undefined;
  }
}

/** What of a lane's configuration is another than before. */
export function configurationEvents(
  before: RegisterValues["lane.config"],
  next: RegisterValues["lane.config"],
): LaneConfigurationEvent[] {
  const updated = { type: "config_update" } as const;
  const events: LaneConfigurationEvent[] = [];
  if (before.model.provider !== next.model.provider || before.model.modelId !== next.model.modelId) {
    events.push({ ...updated, property: "model", value: next.model, previous: before.model });
  }
  if (before.thinkingLevel !== next.thinkingLevel) {
    const { thinkingLevel: value } = next;
    events.push({ ...updated, property: "thinkingLevel", value, previous: before.thinkingLevel });
  }
  if (before.activeToolNames.join("\n") !== next.activeToolNames.join("\n")) {
    const { activeToolNames: value } = next;
    events.push({ ...updated, property: "activeTools", value, previous: before.activeToolNames });
  }
  return events;
}
