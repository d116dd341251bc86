import { expect, it } from "vitest";
import { generatedCaseReport } from "./generated-case.ts";

it("shows what was drawn and what befalls it, line by line, without the turns that say nothing", () => {
  const usage = { input: 1, output: 1 };
  const stop = [{ text: "done", stopReason: "stop", usage }] as const;
  const busy = [{ errorMessage: "503", stopReason: "error", usage }, ...stop] as const;
  const text = generatedCaseReport({
    scenario: {
      name: "drawn",
      title: "drawn",
      settings: { toolExecution: "parallel" },
      tools: [{ name: "look", replay: "safe", does: { kind: "answers", text: "seen" } }],
      turns: [stop, busy, stop, stop],
      stimuli: [{ call: "prompt", text: "go" }],
      meanwhile: [{ while: { turn: 1 }, call: "steer", text: "left" }],
      lanes: [{ lane: "side", turns: [stop], stimuli: [{ call: "nextRun", text: "later" }] }],
    },
    faults: [{ fault: "death", at: 500, position: "inside" }],
  });
  expect(text.split("\n")).toEqual([
    'settings {"toolExecution":"parallel"}',
    'tool {"name":"look","replay":"safe","does":{"kind":"answers","text":"seen"}}',
    'main does {"call":"prompt","text":"go"}',
    'main while {"turn":1} {"call":"steer","text":"left"}',
    `main turn 0 ${JSON.stringify(stop)}`,
    `main turn 1 ${JSON.stringify(busy)}`,
    'side does {"call":"nextRun","text":"later"}',
    'fault {"fault":"death","at":500,"position":"inside"}',
    "",
  ]);
});
