/**
 * A drive that leaves its operation open (spec §4.1, §4.6): whatever comes while it leaves finds it driving or gone, and
 * never something between.
 */
import { describe, expect, it } from "vitest";
import { leaving } from "./testing/leaving.ts";
import { HANDLE, letOthersRun, World } from "./testing/scripted.ts";

describe("a drive that leaves its operation open", () => {
  it("is followed by another if the operation is cancelled while it leaves", async () => {
    const { harness, run, goOn } = await leaving();
    const aborting = harness.abort();
    await letOthersRun();
    goOn.open();
    expect(await aborting).toMatchObject({ ok: true });
    await run;
    await harness.waitForIdle();
    expect(await harness.getLastResult()).toMatchObject({ outcome: "aborted" });
  });

  it("ends it itself if the cancellation came first", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE });
    const { harness } = await world.boot();
    // The commit of the answer is published on the mutation line, so this is the next job behind it.
    const aborted = new Promise((resolve) => {
      harness.events.on("turn_end", () => resolve(harness.abort()));
    });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(await aborted).toMatchObject({ ok: true });
  });

  it("is gone when it is told that it is: a resume that answers that is admitted", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE });
    const { harness } = await world.boot();
    const resumed = new Promise((resolve) => {
      const stop = harness.events.on("run_suspend", () => {
        stop();
        resolve(harness.resume());
      });
    });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "suspended" } });
    // The provider of this world answers no poll, which fails the run.
    expect(await resumed).toMatchObject({ ok: true, value: { operation: "run", kind: "failed" } });
  });
});
