import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Two callers make a lane of one name: one has made it, the other is told that it is there. */
export default {
  name: "create-lane-vs-create-lane",
  row: {
    pair: "`createLane` × `createLane`, same name",
    first: "the first makes it",
    second: "the other is told that it exists",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "one-first",
      schedule: [
        { at: { besideCall: "prompt" }, call: { call: "createLane", lane: "side" }, as: "one" },
        { at: { besideCall: "prompt" }, call: { call: "createLane", lane: "side" }, as: "other" },
      ],
      proof: ["call one", "call other", "commit lane.create"],
      answers: { one: "created", other: "LaneExists" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed", "lane side: idle"],
    },
    {
      name: "other-first",
      schedule: [
        { at: { besideCall: "prompt" }, call: { call: "createLane", lane: "side" }, as: "other" },
        { at: { besideCall: "prompt" }, call: { call: "createLane", lane: "side" }, as: "one" },
      ],
      proof: ["call other", "call one", "commit lane.create"],
      answers: { one: "LaneExists", other: "created" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed", "lane side: idle"],
    },
  ],
} as const satisfies Race;
