/** A story says what a view holds in the words of the histories of races, and nothing of ids, times or costs. */
import { expect, it } from "vitest";
import { storyOf } from "./story.ts";
import { History, twoTools } from "./testing/history.ts";

it("says entries in order, how a response stopped, what calls came to, and how the lane stands", () => {
  expect(storyOf(twoTools().view())).toEqual([
    "user: go",
    "assistant, toolUse: calls read call_1, calls delete call_2",
    "result call_1: result",
    "result call_2: result",
    "assistant, stop: done",
    "lane main: idle, run completed",
  ]);
});

it("says what waits, and where an open operation stands", () => {
  const open = new History().seed().prompt().ready().intent();
  expect(storyOf(open.view())).toEqual(["user: go", "lane main: run open at assistant effect_pending"]);
  expect(storyOf(open.abort().view()).at(-1)).toBe(
    "lane main: run open at assistant effect_pending, cancelled",
  );
});
