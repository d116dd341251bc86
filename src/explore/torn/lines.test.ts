/** The damages of a file of lines: at which bytes, to which bytes, and what they may leave. */
import { describe, expect, it } from "vitest";
import type { DiskFile } from "../../subject/index.ts";
import { type DamageBudget, parseDamageName } from "./damage.ts";
import { cutPlaces, LINE_BYTES_MAX } from "./lines.ts";
import { damageNamed, damagesOf, flipsOfAll } from "./space.ts";

const LAST = '[{"a":"日\u2028"},{"b":2}]\n';
const BEFORE = '{"kind":"header"}\n{"first":1}\n';
const FILE: DiskFile = {
  name: "session",
  format: { kind: "lines" },
  bytes: Buffer.from(BEFORE + LAST),
  lastCommitFrom: Buffer.byteLength(BEFORE),
  noticesChanges: false,
};
const EVERY: DamageBudget = { places: "every", flips: "every", seed: 1 };

const contentOf = (name: string) =>
  Buffer.from(damageNamed([FILE], name)?.contents().get("session") ?? Buffer.from("none such"));

describe("the damages of a file of lines", () => {
  it("cut the last line after every byte of it but the last, also inside characters", () => {
    const cuts = damagesOf([FILE], EVERY).filter(({ kind }) => kind === "cut");
    const { length } = Buffer.from(LAST);
    expect(cuts.map(({ name }) => name)).toEqual(
      Array.from({ length: length - 1 }, (_, index) => `cut@${index + 1}`),
    );
    const kept = cuts.map((cut) => cut.contents().get("session")?.length);
    expect(kept).toEqual(cuts.map((_, index) => Buffer.byteLength(BEFORE) + index + 1));
    expect(contentOf("cut@8").subarray(-1)).toEqual(Buffer.from([0xe6]));
  });

  it("all change something, have names of their own, and are made again by their names", () => {
    const damages = [...damagesOf([FILE], EVERY), ...flipsOfAll([FILE], EVERY)];
    expect(new Set(damages.map(({ name }) => name)).size).toBe(damages.length);
    for (const { name, allows, contents } of damages) {
      const again = damageNamed([FILE], name);
      expect(again?.allows).toEqual(allows);
      expect(again?.contents()).toEqual(contents());
      expect(Buffer.from(contents().get("session") ?? []).equals(FILE.bytes)).toBe(false);
    }
  });

  it("say what is read: what has no line feed is no commit, what is behind it is nothing, and no third is right", () => {
    for (const { kind, allows, contents } of damagesOf([FILE], EVERY)) {
      const text = Buffer.from(contents().get("session") ?? []).toString("latin1");
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      const expected =
        whole === Buffer.from(BEFORE).toString("latin1")
          ? "previous"
          : whole === Buffer.from(FILE.bytes).toString("latin1")
            ? "complete"
            : "refused";
      expect([kind, allows]).toEqual([kind, [expected]]);
    }
  });

  it.each([
    ["doubled", BEFORE + LAST + LAST],
    ["fused", BEFORE.slice(0, -1) + LAST],
    ["swapped", `{"kind":"header"}\n${LAST}{"first":1}\n`],
    ["empty-line", `${BEFORE}${LAST}\n`],
    ["last-crlf", `${BEFORE}${LAST.slice(0, -1)}\r\n`],
    ["crlf", (BEFORE + LAST).replaceAll("\n", "\r\n")],
    ["line-separator", `${BEFORE}${LAST.slice(0, -1)}\u2028`],
    ["byte-order-mark", `\ufeff${BEFORE}${LAST}`],
    ["headless", `{"first":1}\n${LAST}`],
    ["zeros@0", BEFORE + "\0".repeat(Buffer.byteLength(LAST))],
    ["hole@0", `${BEFORE}${"\0".repeat(Buffer.byteLength(LAST) - 1)}\n`],
  ])("%s", (name, text) => {
    expect(contentOf(name).toString()).toBe(text);
  });

  it("have no name beside these", () => {
    for (const name of [
      "cut",
      "cut@9999",
      "doubled@3",
      "flip@1",
      "flip@9999.1",
      "none-such",
      "Cut@1",
      "cut@1.9",
    ]) {
      expect(damageNamed([FILE], name)).toBeUndefined();
    }
    expect(parseDamageName("cut@1.9")).toBeUndefined();
  });
});

describe("cuts within a budget", () => {
  it("keep the ends, the middle of a character and the end of a member", () => {
    const line = Buffer.from(`[{"text":"${"a".repeat(200)}日"},{"b":2},{"c":3}]\n`);
    const places = cutPlaces(line, 12);
    expect(places.length).toBeLessThanOrEqual(12);
    expect(places).toEqual([...new Set(places)].sort((one, other) => one - other));
    for (const place of [1, line.length - 1, line.indexOf(0xe6) + 1]) expect(places).toContain(place);
  });

  it("are fewer than the bytes of a long line, and around its pages", () => {
    const places = cutPlaces(Buffer.alloc(100_000, "a"), "every");
    expect(places.length).toBeLessThanOrEqual(LINE_BYTES_MAX);
    for (const place of [1, 4096, 99_999]) expect(places).toContain(place);
  });
});

describe("flips", () => {
  it("are in every byte, or in as many as the budget says, of bits that the seed chooses", () => {
    expect(flipsOfAll([FILE], EVERY)).toHaveLength(FILE.bytes.length);
    const some = (seed: number) => flipsOfAll([FILE], { ...EVERY, flips: 9, seed }).map(({ name }) => name);
    expect(some(1).length).toBeLessThanOrEqual(9);
    expect(some(1)).toEqual(some(1));
    expect(some(1)).not.toEqual(some(2));
  });

  it("change one bit, and promise to be noticed only where the format does", () => {
    const bytes = contentOf("flip@3.5");
    expect((bytes[3] ?? 0) ^ (FILE.bytes[3] ?? 0)).toBe(1 << 5);
    bytes[3] = FILE.bytes[3] ?? 0;
    expect(bytes.equals(FILE.bytes)).toBe(true);
    expect(damageNamed([FILE], "flip@3.5")?.unpromised).toContain("no checksum");
    expect(damageNamed([{ ...FILE, noticesChanges: true }], "flip@3.5")?.unpromised).toBeUndefined();
  });
});
