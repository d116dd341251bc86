import { describe, expect, it } from "vitest";
import { type Boundary, boundaryName, Gate } from "./index.ts";

/** A runtime that crosses boundaries and writes down what happened in the world and what it was told. */
class Probe {
  readonly happened: string[] = [];
  readonly told: string[] = [];
  readonly gate: Gate;

  constructor(gate: Gate) {
    this.gate = gate;
  }

  async pass(label: string, cross: () => unknown = () => undefined): Promise<void> {
    await this.gate.pass("effect", label, async (boundary) => {
      this.happened.push(boundaryName(boundary));
      await cross();
    });
    this.told.push(label);
  }

  async passAll(...labels: string[]): Promise<void> {
    for (const label of labels) await this.pass(label);
  }
}

const named = (boundaries: readonly Boundary[]) => boundaries.map(boundaryName);
const forever = new Promise<never>(() => undefined);

/** A few turns of the event loop: whatever would go on by itself has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function first(gate: Gate): Boundary {
  const [boundary] = gate.parked;
  if (boundary === undefined) throw new Error("nothing is parked");
  return boundary;
}

/** A crossing that the test finishes by hand. */
function slowCrossing(): { cross: () => Promise<void>; finish: () => void } {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { cross: () => finished, finish };
}

describe("Gate, closed", () => {
  it("parks before the crossing: nothing has happened while something is parked", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    void probe.passAll("a", "b");
    await gate.quiet(forever);
    await settle();
    expect([named(gate.parked), probe.happened, gate.crossedCount]).toEqual([["a#1"], [], 0]);
  });

  it("crosses exactly one boundary a release, then the runtime has parked again or is done", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    const life = probe.passAll("a", "b", "a");
    const seen: unknown[] = [];
    for (;;) {
      await gate.quiet(life);
      seen.push([named(gate.parked), [...probe.happened]]);
      if (gate.parked.length === 0) break;
      gate.release(first(gate));
    }
    expect(seen).toEqual([
      [["a#1"], []],
      [["b#1"], ["a#1"]],
      [["a#2"], ["a#1", "b#1"]],
      [[], ["a#1", "b#1", "a#2"]],
    ]);
    expect(gate.crossedCount).toBe(3);
  });

  it("hands the outcome of the crossing to the runtime, a refusal too", async () => {
    const gate = new Gate({ open: false });
    const answer = gate.pass("commit", "a", (boundary) => `crossed ${boundaryName(boundary)}`);
    const refusal = gate.pass("commit", "b", () => {
      throw new Error("disk full");
    });
    for (const boundary of gate.parked) gate.release(boundary);
    await expect(answer).resolves.toBe("crossed a#1");
    await expect(refusal).rejects.toThrow("disk full");
  });

  it("keeps arrivals in their order and lets through the one that is named", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    void Promise.all(["a", "b", "c"].map((label) => probe.pass(label)));
    await gate.quiet(forever);
    expect(named(gate.parked)).toEqual(["a#1", "b#1", "c#1"]);
    const second = gate.parked[1];
    if (second === undefined) throw new Error("b is not parked");
    gate.release(second);
    await gate.quiet(forever);
    expect([named(gate.parked), probe.happened]).toEqual([["a#1", "c#1"], ["b#1"]]);
    expect(() => gate.release(second)).toThrow("nothing is parked at b#1");
  });
});

describe("Gate, open", () => {
  it("lets everything through, in the order of arrival, what was parked first", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    const life = Promise.all([probe.passAll("a", "c"), probe.passAll("b", "d")]);
    await gate.quiet(life);
    gate.open();
    await life;
    expect(probe.happened).toEqual(["a#1", "b#1", "c#1", "d#1"]);
    expect(gate.parked).toEqual([]);
  });

  it("parks the first boundary for which `until` holds, and everything that comes after it", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    void Promise.all([probe.passAll("a", "b", "c"), probe.passAll("x", "y", "z")]);
    await gate.quiet(forever);
    gate.open((boundary) => boundary.label === "b");
    await gate.quiet(forever);
    expect([named(gate.parked), probe.happened]).toEqual([
      ["b#1", "y#1"],
      ["a#1", "x#1"],
    ]);
  });

  it("does not let a parked boundary slip through for which `until` holds", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    void Promise.all(["a", "b", "c"].map((label) => probe.pass(label)));
    await gate.quiet(forever);
    gate.open((boundary) => boundary.label === "b");
    await gate.quiet(forever);
    expect([named(gate.parked), probe.happened]).toEqual([["b#1", "c#1"], ["a#1"]]);
  });

  it("counts occurrences over the whole life, parked or not", async () => {
    const gate = new Gate({ open: true });
    const probe = new Probe(gate);
    await probe.passAll("a", "a");
    gate.open((boundary) => boundaryName(boundary) === "a#4");
    void probe.passAll("a", "a", "a");
    await gate.quiet(forever);
    expect([named(gate.parked), probe.happened]).toEqual([["a#4"], ["a#1", "a#2", "a#3"]]);
  });
});

describe("Gate, dropped", () => {
  it("lets nothing go on that was parked, arrives later, or was released and not yet crossed", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    void Promise.all([probe.pass("parked"), probe.pass("released")]);
    await gate.quiet(forever);
    const released = gate.parked[1];
    if (released === undefined) throw new Error("nothing to release");
    gate.release(released);
    gate.drop();
    void probe.pass("later");
    gate.open();
    await settle();
    expect([probe.happened, probe.told, named(gate.parked)]).toEqual([[], [], []]);
  });

  it("finishes what was being crossed, and tells nobody: neither an answer nor a refusal", async () => {
    const gate = new Gate({ open: true });
    const probe = new Probe(gate);
    const { cross, finish } = slowCrossing();
    const refused: unknown[] = [];
    void probe.pass("commit", cross);
    void probe
      .pass("refused", () => cross().then(() => Promise.reject(new Error("disk full"))))
      .catch((error) => {
        refused.push(error);
      });
    await settle();
    gate.drop();
    finish();
    await settle();
    expect([probe.happened, probe.told, refused]).toEqual([["commit#1", "refused#1"], [], []]);
  });

  it("says that it is dead, and not before", async () => {
    const gate = new Gate({ open: false });
    let isDead = false;
    void gate.dead.then(() => {
      isDead = true;
    });
    await settle();
    expect(isDead).toBe(false);
    gate.drop();
    await gate.dead;
  });

  it("is quiet at once, also for those who were waiting", async () => {
    const gate = new Gate({ open: true });
    const waiting = [gate.quiet(forever), gate.quiet(forever)];
    await settle();
    gate.drop();
    await Promise.all(waiting);
    await gate.quiet(forever);
  });
});

describe("Gate, cap", () => {
  it("lets a life cross as many boundaries as the cap and not one more, and says so", async () => {
    const gate = new Gate({ open: true, cap: 3 });
    const probe = new Probe(gate);
    void (async () => {
      for (;;) await probe.pass("loop");
    })();
    await gate.quiet(forever);
    expect([gate.capReached, gate.crossedCount, probe.happened]).toEqual([
      true,
      3,
      ["loop#1", "loop#2", "loop#3"],
    ]);
  });

  it("holds for what was parked before it was reached", async () => {
    const gate = new Gate({ open: false, cap: 2 });
    const probe = new Probe(gate);
    void Promise.all(["a", "b", "c"].map((label) => probe.pass(label)));
    await gate.quiet(forever);
    gate.open();
    await gate.quiet(forever);
    expect([gate.capReached, probe.happened]).toEqual([true, ["a#1", "b#1"]]);
  });

  it("is not reached by a life that ends on it", async () => {
    const gate = new Gate({ open: true, cap: 2 });
    const probe = new Probe(gate);
    await probe.passAll("a", "b");
    expect([gate.capReached, gate.crossedCount]).toEqual([false, 2]);
  });
});

describe("Gate.quiet", () => {
  it("waits for the siblings of a parallel runtime that arrive in the same turn", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    const late = async () => {
      for (let microtask = 0; microtask < 50; microtask++) await Promise.resolve();
      await probe.pass("late");
    };
    void Promise.all([probe.pass("early"), late()]);
    await gate.quiet(forever);
    expect(named(gate.parked)).toEqual(["early#1", "late#1"]);
  });

  it("waits while anything is being crossed, also when a sibling has parked or finished", async () => {
    const gate = new Gate({ open: false });
    const probe = new Probe(gate);
    const slow = slowCrossing();
    void Promise.all([probe.pass("slow", slow.cross), probe.passAll("quick", "next")]);
    await gate.quiet(forever);
    for (const boundary of gate.parked) gate.release(boundary);
    let isQuiet = false;
    const quiet = gate.quiet(forever).then(() => {
      isQuiet = true;
    });
    await settle();
    expect([named(gate.parked), isQuiet]).toEqual([["next#1"], false]);
    slow.finish();
    await quiet;
    expect(probe.told).toEqual(["quick", "slow"]);
  });

  it("resolves when the life has settled, well or badly, and nothing is parked", async () => {
    const gate = new Gate({ open: true });
    await gate.quiet(Promise.resolve());
    await gate.quiet(Promise.reject(new Error("the system refused")));
    expect(gate.parked).toEqual([]);
  });

  it("waits for a crossing that the settled life left behind", async () => {
    const gate = new Gate({ open: true });
    const probe = new Probe(gate);
    const slow = slowCrossing();
    void probe.pass("left behind", slow.cross);
    const quiet = gate.quiet(Promise.resolve()).then(() => probe.told);
    await settle();
    slow.finish();
    await expect(quiet).resolves.toEqual(["left behind"]);
  });
});

describe("a gate that is told who arrives", () => {
  it("says by whom each boundary is parked", async () => {
    let actor = "life";
    const gate = new Gate({ open: false, actorOf: () => actor });
    const probe = new Probe(gate);
    void probe.pass("first");
    actor = "abort";
    void probe.pass("second");
    await gate.quiet(forever);
    expect(gate.waiting.map(({ boundary, actor: by }) => [boundaryName(boundary), by])).toEqual([
      ["first#1", "life"],
      ["second#1", "abort"],
    ]);
    gate.release(first(gate));
    await gate.quiet(forever);
    expect(gate.waiting.map(({ actor: by }) => by)).toEqual(["abort"]);
  });
});
