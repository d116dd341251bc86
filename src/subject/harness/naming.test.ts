/** Commits are named by what is durable and by what happened in this life, also before its first commit. */
import { expect, it } from "vitest";
import abortBesideSafeTool from "../../../scenarios/abort-beside-safe-tool.ts";
import { UNRECOGNISED } from "../../checkers/index.ts";
import { repro } from "../../explore/index.ts";
import { parseRunId } from "../../faults/index.ts";
import { RealClock } from "../../foundation/index.ts";
import { memoryMedium } from "./memory-medium.ts";
import { harnessSubject } from "./subject.ts";

it("names the result of a call that ran before the first commit of a life", async () => {
  const text = "crash/abort-beside-safe-tool/memory/tool.execute#1:inside";
  const id = parseRunId(text);
  if (!id.ok) throw id.error;
  const parts = {
    id: id.value,
    text,
    scenario: abortBesideSafeTool,
    subjects: [harnessSubject(memoryMedium)],
  };
  const { events } = await repro(parts, { clock: new RealClock(), folder: "/nowhere" });
  const labels = events.flatMap((event) => (event.kind === "commit" ? [event.boundary.label] : []));
  expect(labels).toContain("tool.settle.last");
  expect(labels).not.toContain(UNRECOGNISED);
});
