/** The damages of a database and its log: at which bytes, to which bytes, and what they may leave. */
import { describe, expect, it } from "vitest";
import type { DiskFile } from "../../subject/index.ts";
import type { DamageBudget } from "./damage.ts";
import { foreignLog } from "./database.ts";
import { damageNamed, damagesOf, flipsOfAll } from "./space.ts";

const FRAME_BYTES = 24 + 512;
const LOG_FROM = 32 + FRAME_BYTES;
const bytesOf = (length: number, first: number) =>
  Uint8Array.from({ length }, (_, index) => ((first + index) % 255) + 1);

const DATABASE: DiskFile = {
  name: "database",
  format: { kind: "pages", pageBytes: 512 },
  bytes: Buffer.concat([bytesOf(512, 3), Buffer.alloc(512), bytesOf(512, 9)]),
  lastCommitFrom: 3 * 512,
  noticesChanges: false,
};
const LOG: DiskFile = {
  name: "log",
  format: { kind: "frames", frameBytes: FRAME_BYTES, frameHeaderBytes: 24 },
  bytes: bytesOf(LOG_FROM + 2 * FRAME_BYTES, 1),
  lastCommitFrom: LOG_FROM,
  noticesChanges: false,
};
const FILES = [DATABASE, LOG];
const EVERY: DamageBudget = { places: "every", flips: 9, seed: 1 };
const ofKind = (kind: string) => damagesOf(FILES, EVERY).filter((damage) => damage.kind === kind);
const contentsOf = (name: string) => damageNamed(FILES, name)?.contents();

describe("the damages of a database and its log", () => {
  it("cut the last commit before each frame, in its header and its page, and before its last byte", () => {
    const places = ofKind("log-cut").map(({ name }) => Number(name.slice("log-cut@".length)));
    const within = [0, 1, 8, 16, 24, 25, FRAME_BYTES / 2, FRAME_BYTES - 1];
    expect(places).toEqual([...within.slice(1), ...within.map((place) => FRAME_BYTES + place)]);
    for (const { name, allows, contents } of ofKind("log-cut")) {
      expect(allows).toEqual(["previous"]);
      const kept = contents().get("log");
      expect(kept?.length).toBe(LOG_FROM + Number(name.slice("log-cut@".length)));
      expect(contents().get("database")).toBe(DATABASE.bytes);
    }
  });

  it("turn the last commit to zeros from the same places, but for those behind which it is zeros already", () => {
    const places = (kind: string, files = FILES) =>
      damagesOf(files, EVERY).flatMap(({ name }) =>
        name.startsWith(`${kind}@`) ? [name.split("@")[1]] : [],
      );
    expect(places("log-zeros")).toEqual(places("log-cut"));
    const half = LOG.bytes.length - FRAME_BYTES / 2;
    const sparse = { ...LOG, bytes: Uint8Array.from(LOG.bytes, (byte, at) => (at < half ? byte : 0)) };
    expect(places("log-zeros", [sparse])).toEqual(places("log-cut").slice(0, -2));
  });

  it("tear every page of the database of which a half is not zeros already", () => {
    expect(ofKind("page-torn").map(({ name }) => name)).toEqual(["page-torn@0", "page-torn@2"]);
    const torn = contentsOf("page-torn@2")?.get("database");
    expect(torn?.subarray(0, 1280)).toEqual(Buffer.from(DATABASE.bytes).subarray(0, 1280));
    expect(torn?.subarray(1280)).toEqual(Buffer.alloc(256));
  });

  it("take either file away, and put the log of another session there", () => {
    expect([...(contentsOf("log-missing")?.keys() ?? [])]).toEqual(["database"]);
    expect([...(contentsOf("database-missing")?.keys() ?? [])]).toEqual(["log"]);
    const other = { ...LOG, bytes: bytesOf(400, 77) };
    expect(foreignLog(FILES, [other])?.contents().get("log")).toBe(other.bytes);
    expect(foreignLog([DATABASE], [other])).toBeUndefined();
    expect(foreignLog(FILES, [DATABASE])).toBeUndefined();
  });

  it("promise nothing only where SQLite does not: of a lost log, and of pages", () => {
    const unpromised = damagesOf(FILES, EVERY).filter((damage) => damage.unpromised !== undefined);
    const kinds = new Set(unpromised.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(["page-torn", "database-cut", "log-missing", "log-empty"]));
  });

  it("all change something, and are made again by their names", () => {
    for (const { name, contents } of [...damagesOf(FILES, EVERY), ...flipsOfAll(FILES, EVERY)]) {
      expect(contentsOf(name)).toEqual(contents());
      const isSame = FILES.every(
        (file) => Buffer.compare(contents().get(file.name) ?? Buffer.alloc(0), file.bytes) === 0,
      );
      expect([name, isSame]).toEqual([name, false]);
    }
    for (const name of [
      "cut@1",
      "doubled",
      "log-cut@99999",
      "flip@3.1",
      "log-missing@1",
      "flip-log@99999.1",
    ]) {
      expect(contentsOf(name)).toBeUndefined();
    }
  });
});
