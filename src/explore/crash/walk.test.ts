/** A walk whose visitor cannot go on leaves nothing behind: no life that waits, and no disk. */
import { expect, it } from "vitest";
import type { Subject } from "../../subject/index.ts";
import { runContext } from "../plan.ts";
import { HOST } from "../testing/explorations.ts";
import { CLIMB, ladder } from "../testing/ladder.ts";
import { Watchdog } from "../watchdog.ts";
import { walkUncut } from "./walk.ts";

it("drops the life, and the disk after it, where the visitor throws", async () => {
  const left: string[] = [];
  const whole = ladder();
  const subject: Subject = {
    ...whole,
    provision: async (how) => Object.assign(await whole.provision(how), { dispose: () => left.push("disk") }),
    boot: (how) => {
      const incarnation = whole.boot(how);
      const drop = () => {
        left.push("life");
        incarnation.drop();
      };
      return { ...incarnation, drop };
    },
  };
  const watchdog = new Watchdog(HOST.clock);
  const walking = walkUncut(runContext(CLIMB, subject, 1, HOST, watchdog, []), {
    seen: () => undefined,
    wants: () => true,
    visit: () => Promise.reject(new Error("it cannot be read")),
  });
  await expect(walking).rejects.toThrow("it cannot be read");
  watchdog.stop();
  expect(left).toEqual(["life", "disk"]);
});
