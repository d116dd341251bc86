/** Answers and tools that wait to be let go, and what is said in the end, for the tests of cancellations. */
import type { AgentToolResult, Write } from "../../model/index.ts";
import { gate, text, type World } from "./scripted.ts";

export const said = (world: World) =>
  world.disk.dump().entries.flatMap((entry) => {
    if (entry.type !== "message") return [entry.type];
    const { message } = entry;
    if (message.role === "assistant") return [`assistant ${message.stopReason}`];
    return [
      message.role === "toolResult" ? `${message.toolCallId} ${textOf(message.content)}` : textOf(message),
    ];
  });

function textOf(content: unknown): string {
  const found = JSON.stringify(content).match(/"text":"([^"]*)"/);
  return found?.[1] ?? String((content as { content?: unknown }).content);
}

export const stateIn = (writes: readonly Write[]) =>
  writes.flatMap((write) =>
    write.kind === "register" && write.op === "set" && write.namespace === "op.state" ? [write.value] : [],
  )[0];

/** An answer that says when it was asked for, and comes when it is let go. */
export function answering() {
  const asked = gate();
  const answer = gate();
  const reply = async () => {
    asked.open();
    await answer.opened;
    return text("late");
  };
  return { asked, answer, reply };
}

/** A tool that says when it has started, and answers when it is let go. */
export function waiting(result: { terminate?: boolean } = {}) {
  const started = gate();
  const done = gate();
  const execute = async (): Promise<AgentToolResult> => {
    started.open();
    await done.opened;
    return { content: [{ type: "text", text: "real" }], details: {}, ...result };
  };
  return { started, done, execute };
}
