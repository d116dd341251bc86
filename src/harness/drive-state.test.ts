import { describe, expect, it } from "vitest";
import type { AgentMessage, Write } from "../model/index.ts";
import { newDriveState, rememberWrites } from "./drive-state.ts";
import { failure, MODEL, text, tokens } from "./testing/scripted.ts";

const user: AgentMessage = { role: "user", content: "hi", timestamp: 1 };
const assistant = (said: object): AgentMessage => ({
  role: "assistant",
  content: [],
  api: MODEL.api,
  provider: MODEL.provider,
  model: MODEL.id,
  usage: tokens(1, 1),
  stopReason: "stop",
  timestamp: 2,
  ...said,
});
const entry = (id: string, parentId: string, message: AgentMessage): Write => ({
  kind: "entry",
  entry: { type: "message", id, parentId, message },
});

describe("the context that a drive remembers", () => {
  const remembering = () => {
    const live = newDriveState(0);
    live.context = { leafId: "e1", messages: [user] };
    return live;
  };

  it("grows by what is appended to its leaf", () => {
    const live = remembering();
    const answer = assistant(text("hello"));
    rememberWrites(live, [entry("e2", "e1", answer), entry("e3", "e2", user)]);
    expect(live.context).toEqual({ leafId: "e3", messages: [user, answer, user] });
    expect(live.latestAssistant).toEqual({ entryId: "e2", message: answer });
  });

  it("follows a failed response and does not hold it", () => {
    const live = remembering();
    rememberWrites(live, [entry("e2", "e1", assistant(failure("no")))]);
    expect(live.context).toEqual({ leafId: "e2", messages: [user] });
  });

  it("is forgotten when something is appended elsewhere, or is no message", () => {
    const elsewhere = remembering();
    rememberWrites(elsewhere, [entry("e9", "e8", user)]);
    expect(elsewhere.context).toBeUndefined();
    const custom = remembering();
    const note: Write = {
      kind: "entry",
      entry: { type: "custom", id: "e2", parentId: "e1", customType: "note" },
    };
    rememberWrites(custom, [note]);
    expect(custom.context).toBeUndefined();
  });

  it("does not come from nothing", () => {
    const live = newDriveState(0);
    rememberWrites(live, [entry("e2", "e1", user)]);
    expect(live.context).toBeUndefined();
  });
});
