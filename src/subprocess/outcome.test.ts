import { describe, expect, it } from "vitest";
import type { Scenario } from "../faults/index.ts";
import { outcomesOf, type Talk } from "./outcome.ts";
import type { Note } from "./protocol.ts";

const scenario: Scenario = { name: "s", title: "s", settings: {}, tools: [], turns: [], stimuli: [] };
const batch = ["a", "b", "c"].map((folder) => ({
  subject: "x",
  scenario,
  seed: 1,
  cut: { label: folder, occurrence: 1, position: "before" as const },
  folder,
}));
const killed = { code: null, signal: "SIGKILL" as const, lastWords: "" };
const exited = { code: 7, signal: null, lastWords: "out of ideas\n" };
const parked = (session: number): Note => ({ kind: "parked", session });
const unreached = (session: number): Note => ({
  kind: "unreached",
  session,
  doubt: { signature: "unreached", message: "m" },
});
const talk = (ended: Talk["ended"], notes: Note[], isReady = true): Talk => ({ ended, isReady, notes });

/** `a:killed`, `b:child-died`, `c:again`. */
function summary({ outcomes, again }: ReturnType<typeof outcomesOf>): string[] {
  const said = outcomes.map((outcome) =>
    outcome.kind === "killed"
      ? `${outcome.request.folder}:killed`
      : `${outcome.request.folder}:${outcome.doubt.signature}`,
  );
  return [...said, ...again.map((request) => `${request.folder}:again`)].sort();
}

describe("what is said of a batch", () => {
  const cases: [string, ReturnType<typeof outcomesOf>, string[]][] = [
    [
      "killed, for all that were parked when our signal came",
      outcomesOf(batch, talk("announced", [parked(0), parked(1), parked(2)]), killed, true),
      ["a:killed", "b:killed", "c:killed"],
    ],
    [
      "in doubt, for the one that did not get to its boundary",
      outcomesOf(batch, talk("announced", [parked(0), unreached(1), parked(2)]), killed, true),
      ["a:killed", "b:unreached", "c:killed"],
    ],
    [
      "in doubt for all, when the child died by itself after it had announced them",
      outcomesOf(batch, talk("announced", [parked(0), parked(1), parked(2)]), exited, false),
      ["a:child-died", "b:child-died", "c:child-died"],
    ],
    [
      "in doubt for the session that took the child down; the others are tried again",
      outcomesOf(batch, talk("died", [parked(0)]), exited, false),
      ["a:again", "b:child-died", "c:again"],
    ],
    [
      "in doubt for the first session alone, when that took the child down",
      outcomesOf(batch, talk("died", []), exited, false),
      ["a:child-died", "b:again", "c:again"],
    ],
    [
      "in doubt for the session in which the child fell silent; those before it were killed at their cuts",
      outcomesOf(batch, talk("silent", [parked(0)]), killed, true),
      ["a:killed", "b:child-silent", "c:again"],
    ],
    [
      "in doubt for all, when the child never got ready",
      outcomesOf(batch, talk("died", [], false), exited, false),
      ["a:child-not-started", "b:child-not-started", "c:child-not-started"],
    ],
  ];
  it.each(cases)("is %s", (_title, found, expected) => {
    expect(summary(found)).toEqual(expected);
  });

  it("holds the child's exit and its last words", () => {
    const { outcomes } = outcomesOf(batch, talk("died", []), exited, false);
    const [first] = outcomes;
    expect(first?.kind === "inconclusive" && first.doubt.message).toMatch(/exit code 7.*out of ideas/);
  });
});
