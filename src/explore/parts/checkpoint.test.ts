/** A checkpoint loses no finished unit, wherever its writer dies, and never touches a file that is not its own. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { explore } from "../explore.ts";
import type { ExploreResult } from "../result.ts";
import { HOST, plan } from "../testing/explorations.ts";
import { CLIMB, ladder } from "../testing/ladder.ts";
import { Checkpoint, CheckpointRefused } from "./checkpoint.ts";

let folder: string;
let path: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-checkpoint-"));
});
beforeEach(() => {
  path = join(folder, `checkpoint-${count++}`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = { fingerprint: "abc", version: "0.0.0", command: "npx crashproof crash-points “climb”" };
const SCENARIOS = ["climb", "again", "“once more”"].map((name) => ({ ...CLIMB, name }));
const PLAN = plan([ladder({}, { id: "one" }), ladder({}, { id: "two" })], { scenarios: SCENARIOS });

const open = (head = HEAD, lost: (error: unknown) => void = () => undefined) =>
  Checkpoint.open(path, head, lost);
const bytes = (result: ExploreResult) =>
  JSON.stringify(result, (key, value) => (key === "elapsedMs" || key === "perSecond" ? 0 : value));

/** Explores over the checkpoint; resolves to the units that were explored for it, too. */
async function exploreOver(): Promise<{ result: ExploreResult; explored: string[] }> {
  const checkpoint = open();
  const explored: string[] = [];
  const keep: Checkpoint["keep"] = (record) => {
    explored.push(record.id);
    checkpoint.keep(record);
  };
  const { records } = checkpoint;
  const result = await explore(PLAN, { ...HOST, checkpoint: { records, keep } });
  checkpoint.close();
  return { result, explored };
}

function refusalOf(opening: () => unknown): string {
  try {
    opening();
    return "nothing was refused";
  } catch (error) {
    if (error instanceof CheckpointRefused) return error.code;
    throw error;
  }
}

describe("a checkpoint", () => {
  it("holds every finished unit, wherever its writer died, and the result is the same", async () => {
    const whole = await exploreOver();
    expect(whole.explored).toHaveLength(6);
    const file = readFileSync(path);
    const lineFeeds = [...file.entries()].flatMap(([at, byte]) => (byte === 10 ? [at] : []));
    const heads = Array.from({ length: lineFeeds[0] ?? 0 }, (_, at) => at);
    // Every byte of the head, and around each end of a line; what lies between is like it.
    const places = [...heads, ...lineFeeds.flatMap((at) => [at - 200, at - 1, at, at + 1])];
    for (const place of places.filter(
      (at) => at % 7 === 0 || lineFeeds.some((end) => Math.abs(end - at) < 2),
    )) {
      writeFileSync(path, file.subarray(0, place));
      const finished = Math.max(0, lineFeeds.filter((at) => at < place).length - 1);
      const { result, explored } = await exploreOver();
      expect(explored).toEqual(whole.explored.slice(finished));
      expect(bytes(result)).toBe(bytes(whole.result));
    }
    expect((await exploreOver()).explored).toEqual([]);
  });

  it("is refused for another plan or version, and where it is damaged, and not one byte of anything changes", async () => {
    await exploreOver();
    const own = readFileSync(path, "utf8");
    const refused = (text: string, head = HEAD) => {
      writeFileSync(path, text);
      const code = refusalOf(() => open(head));
      expect(readFileSync(path, "utf8")).toBe(text);
      return code;
    };
    expect(refused(own, { ...HEAD, fingerprint: "abd" })).toBe("FOREIGN_CHECKPOINT");
    expect(refused(own, { ...HEAD, version: "0.0.1" })).toBe("FOREIGN_CHECKPOINT");
    expect(refused(own.replace('{"record":', '{"recorf":'))).toBe("UNREADABLE_CHECKPOINT");
    expect(refused(`${own}what is no line of ours\n`)).toBe("UNREADABLE_CHECKPOINT");
    expect(refused("somebody's notes")).toBe("UNREADABLE_CHECKPOINT");
    expect(refused("somebody's notes\n")).toBe("UNREADABLE_CHECKPOINT");
    expect(refused('{"schema":"crashproof-result/1"}\n')).toBe("UNREADABLE_CHECKPOINT");
    path = folder;
    expect(refusalOf(() => open())).toBe("UNWRITABLE_CHECKPOINT");
  });

  it("has one writer, by whatever name it is called, until that one lets go", () => {
    const first = open();
    expect(refusalOf(() => open())).toBe("CHECKPOINT_IN_USE");
    const [file, link] = [path, `${path}-link`];
    symlinkSync(file, link);
    path = link;
    expect(refusalOf(() => open())).toBe("CHECKPOINT_IN_USE");
    first.close();
    open().close();
  });

  it("tells once that it cannot be written any more, and the exploration goes on", async () => {
    const told: unknown[] = [];
    const checkpoint = open(HEAD, (error) => told.push(error));
    // Writing to a file that is closed fails, as on a full disk.
    checkpoint.close();
    const result = await explore(PLAN, { ...HOST, checkpoint });
    expect(told).toHaveLength(1);
    expect(bytes(result)).toBe(bytes(await explore(PLAN, HOST)));
  });
});
