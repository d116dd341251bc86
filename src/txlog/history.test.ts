import { describe, expect, it } from "vitest";
import { sessions } from "../../fixtures/txlog/sessions.ts";
import { operationsIn } from "./history.ts";

/** The operations of a story, with a torn tail behind it. */
function operations(name: string) {
  const story = sessions.find((session) => session.name === name)?.story();
  return operationsIn(Buffer.from(`${story?.lines.join("\n")}\n{"kind":"rec`));
}

describe("the operations of a session", () => {
  it("are none in a session where nothing happened", () => {
    expect(operations("header-only")).toEqual([]);
  });

  it("have the outcome that they came to", () => {
    const outcomes = [operations("completed-tool-run"), operations("aborted-run"), operations("failed-run")];
    expect(outcomes.map(([first]) => first)).toEqual([
      { kind: "run", outcome: "completed" },
      { kind: "run", outcome: "aborted" },
      { kind: "run", outcome: "failed" },
    ]);
  });

  it("have none while they are unfinished", () => {
    expect(operations("open-attempt")).toEqual([{ kind: "run" }]);
    expect(operations("compaction-open-attempt").at(-1)).toEqual({ kind: "compaction" });
  });

  it("are in order, compactions among runs", () => {
    expect(operations("compacted-twice").map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["run", "compaction"]),
    );
  });
});
