/**
 * Conversation of the model: every call that the model was heard asking for is answered once, below the answer that asks
 * for it and in its order; and nothing is answered that was not asked for.
 */
import type { Said } from "../../../subject/index.ts";
import type { CaseHistory, ModelFault } from "./reference-model.ts";

/** What does not hold of calls and their results. */
export function conversationFaults({ end }: CaseHistory): readonly ModelFault[] {
  const byId = new Map(end.said.map((one) => [one.id, one]));
  const answered = new Map<string, string[]>();
  const faults: ModelFault[] = [];
  for (const { answers, parentId } of end.said) {
    if (answers === undefined) continue;
    const source = sourceOf(parentId, byId);
    if (source?.calls.includes(answers) !== true) {
      const message = `a result answers ${answers}, for which the answer above it did not ask`;
      faults.push({ signature: "a result without its call", message });
      continue;
    }
    answered.set(source.id, [...(answered.get(source.id) ?? []), answers]);
  }
  for (const { id, calls } of end.said) {
    const found = answered.get(id) ?? [];
    if (found.join("\n") === calls.join("\n")) continue;
    const message = `asked for ${calls.join(", ")}; answered ${found.join(", ") || "nothing"}`;
    faults.push({ signature: "calls not answered once and in their order", message });
  }
  return faults;
}

/** The answer of the model below which a result stands, other results in between. */
function sourceOf(parentId: string | null, byId: ReadonlyMap<string, Said>): Said | undefined {
  let above = parentId === null ? undefined : byId.get(parentId);
  while (above?.by === "tool") above = above.parentId === null ? undefined : byId.get(above.parentId);
  return above?.by === "model" ? above : undefined;
}
