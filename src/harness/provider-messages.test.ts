import { describe, expect, it } from "vitest";
import type { AgentMessage, AssistantMessage, Message, Model, ToolResultMessage } from "../model/index.ts";
import { repairForProvider, toProviderMessages } from "./provider-messages.ts";
import { MODEL, tokens } from "./testing/scripted.ts";

const user = (content: Extract<Message, { role: "user" }>["content"]): Message => ({
  role: "user",
  content,
  timestamp: 1,
});
const assistant = (
  content: AssistantMessage["content"],
  changes: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  api: MODEL.api,
  provider: MODEL.provider,
  model: MODEL.id,
  usage: tokens(1, 1),
  stopReason: "toolUse",
  timestamp: 5,
  ...changes,
});
const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: {} }) as const;
const result = (toolCallId: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text: toolCallId }],
  isError: false,
  timestamp: 6,
});
const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
const blind: Model = MODEL;
const seeing: Model = { ...MODEL, input: ["text", "image"] };
const shape = (messages: Message[]) =>
  messages.map((message) => (message.role === "toolResult" ? `result ${message.toolCallId}` : message.role));

describe("conversion", () => {
  const textOf = (message: AgentMessage) => {
    const [converted] = toProviderMessages([message]);
    return converted?.role === "user" && JSON.stringify(converted.content);
  };
  const bash = {
    role: "bashExecution",
    command: "ls",
    output: "a",
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  } as const;

  it("passes provider roles unchanged and keeps order and time", () => {
    const messages = [user("hi"), assistant([call("c")]), result("c")];
    expect(toProviderMessages(messages)).toEqual(messages);
  });

  it.each([
    [
      "a custom text",
      { role: "custom", customType: "n", content: "note", display: true, timestamp: 1 },
      ["note"],
    ],
    ["a command", bash, ["ls", "a"]],
    ["a failed command", { ...bash, exitCode: 2 }, ["exit code 2"]],
    ["a cancelled command", { ...bash, cancelled: true }, ["cancelled"]],
    ["a truncated command", { ...bash, truncated: true, fullOutputPath: "/tmp/o" }, ["truncated", "/tmp/o"]],
    [
      "a branch summary",
      { role: "branchSummary", summary: "left", fromId: "e", timestamp: 1 },
      ["<summary>\\nleft\\n</summary>"],
    ],
    [
      "a compaction summary",
      { role: "compactionSummary", summary: "old", tokensBefore: 1, timestamp: 1 },
      ["<summary>\\nold\\n</summary>"],
    ],
  ] as [string, AgentMessage, string[]][])("turns %s into user text", (_name, message, words) => {
    for (const word of words) expect(textOf(message)).toContain(word);
  });

  it("drops commands that are excluded, and roles that nobody converts", () => {
    const foreign = { role: "note", timestamp: 1 } as unknown as AgentMessage;
    expect(toProviderMessages([{ ...bash, excludeFromContext: true }, foreign])).toEqual([]);
  });
});

describe("repair", () => {
  it("gives every call a result, before the next user or assistant message and at the end", () => {
    const repaired = repairForProvider(
      [assistant([call("a"), call("b")]), result("b"), user("hi"), assistant([call("c")])],
      blind,
    );
    expect(shape(repaired)).toEqual(["assistant", "result b", "result a", "user", "assistant", "result c"]);
    expect(repaired[2]).toMatchObject({ isError: true, toolName: "read", timestamp: 5 });
  });

  it("drops results without a call, and second results", () => {
    const repaired = repairForProvider(
      [result("x"), assistant([call("a")]), result("a"), result("a")],
      blind,
    );
    expect(shape(repaired)).toEqual(["assistant", "result a"]);
  });

  it("drops failed and aborted responses with what hangs on them", () => {
    const failed = assistant([call("a")], { stopReason: "error" });
    const aborted = assistant([call("b")], { stopReason: "aborted" });
    expect(repairForProvider([failed, result("a"), aborted, result("b")], blind)).toEqual([]);
  });

  it("reads null content as empty", () => {
    const holed = [{ ...user("x"), content: null }, assistant(null as never)] as unknown as Message[];
    expect(repairForProvider(holed, blind).map(({ content }) => content)).toEqual([[], []]);
  });

  const reasoning: AssistantMessage["content"] = [
    { type: "thinking", thinking: "hm", thinkingSignature: "s" },
    { type: "thinking", thinking: "", redacted: true, thinkingSignature: "r" },
    { type: "text", text: "hello", textSignature: "t" },
    { ...call("a"), thoughtSignature: "c" },
  ];
  it("leaves a response of the same model alone", () => {
    const own = assistant(reasoning);
    expect(repairForProvider([own], blind)[0]).toBe(own);
  });

  it.each([{ provider: "other" }, { api: "other" }, { model: "other" }])(
    "turns the reasoning of another model into text and drops its signatures: %o",
    (changes) => {
      const [message] = repairForProvider([assistant(reasoning, changes)], blind);
      expect(message?.content).toEqual([
        { type: "text", text: "hm" },
        { type: "text", text: "hello" },
        call("a"),
      ]);
    },
  );

  it("replaces each run of images by one placeholder for a model that cannot see", () => {
    const given = [user([image, image, { type: "text", text: "and" }, image])];
    const [message] = repairForProvider(given, blind);
    expect(message?.content).toEqual([
      { type: "text", text: expect.stringContaining("image") },
      { type: "text", text: "and" },
      { type: "text", text: expect.stringContaining("image") },
    ]);
    expect(repairForProvider(given, seeing)).toEqual(given);
  });
});
