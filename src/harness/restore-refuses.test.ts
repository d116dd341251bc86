/**
 * Every stored lane that cannot be executed is refused by opening it, with its reason, and left as it is: the cases of
 * `operation/testing/refused-lanes.ts`, written to a disk.
 */
import { describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import { REFUSED } from "../operation/testing/refused-lanes.ts";
import { rightStructural } from "../operation/testing/stored-structural.ts";
import { writesOf } from "../operation/testing/stored-writes.ts";
import { worldWith } from "./testing/stored-disk.ts";

describe("opening refuses", () => {
  const refused = Object.entries(REFUSED).flatMap(([reason, stored]) =>
    stored.map(([name, given]) => [reason, name, given] as const),
  );
  it.each(refused)("%s: %s", async (reason, _name, given) => {
    const world = await worldWith(writesOf(given));
    const before = JSON.stringify(world.disk.dump());
    const opening = world.boot();
    await expect(opening).rejects.toBeInstanceOf(Corruption);
    await expect(opening).rejects.toThrow(`[${reason}]`);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });

  it.each(rightStructural)(
    "nothing of %s, which differs from those in nothing but what is wrong with them",
    async (_name, given) => {
      const { suspended } = await (await worldWith(writesOf(given))).boot();
      expect(suspended).toHaveLength(1);
    },
  );
});
