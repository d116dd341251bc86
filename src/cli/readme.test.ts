/** The README shows what the commands print. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { crashproof } from "./testing/command.ts";

const README = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8");
const BLOCKS = [...README.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);

/** The block that starts like this. */
function block(start: string): string {
  const found = BLOCKS.find((text) => text.startsWith(start));
  expect(found, `the README has no block that starts with ${start}`).toBeDefined();
  return found as string;
}

/** Without speeds and times, which are those of one machine. */
const timeless = (text: string) =>
  text
    .replaceAll(/^((?:crash|second|takeover) .*\d) +\d+$/gm, "$1")
    .replaceAll(/ states\/s$/gm, "")
    .replaceAll(/, \d+\.\d s$/gm, "");

describe("the README", () => {
  it("shows what the main job prints", async () => {
    const { out } = await crashproof("crash-points", "two-tools");
    expect(timeless(out)).toBe(timeless(block("kind ")));
  });

  it("counts the deaths of the main job", async () => {
    const deaths = [...block("kind ").matchAll(/^crash .*? (\d+) /gm)].map(([, runs]) => Number(runs) - 1);
    expect(README).toContain(`killed ${deaths.reduce((sum, count) => sum + count, 0)} times`);
  });

  it.each([["$ npx crashproof crash-points"], ["$ npx crashproof repro"]])(
    "shows a failure as it is printed: %s",
    async (start) => {
      const [line = "", ...shown] = block(start).trimEnd().split("\n");
      const words = line.replace("$ npx crashproof ", "").replaceAll("'", "").split(" ");
      const { out } = await crashproof(...words);
      expect(out).toContain(shown.join("\n"));
    },
  );

  it("has a library example that names what is exported", async () => {
    const exported = { ...(await import("../index.ts")), ...(await import("../../scenarios/index.ts")) };
    const names = [...block("import { builtInSubjects").matchAll(/import \{ ([^}]*) \}/g)].flatMap(
      ([, list = ""]) => list.split(", "),
    );
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(exported).toHaveProperty(name);
  });
});
