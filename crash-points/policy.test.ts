/**
 * The last column of the position table: at which cuts recovery ends elsewhere than the run that nobody cut.
 *
 * The lists are written by hand from the table and the scenarios, and hold in both directions: at every other cut, on
 * either kind of store, recovery must come to the very same canonical view.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCENARIOS } from "../scenarios/index.ts";
import { exploreCrashes } from "../src/explore/crash/crash.ts";
import { runContext } from "../src/explore/plan.ts";
import { Watchdog } from "../src/explore/watchdog.ts";
import { cutRefName, type Scenario } from "../src/faults/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { type Subject, subjectById } from "../src/subject/index.ts";
import { openScratch, type Scratch } from "../src/subprocess/index.ts";

const clock = new RealClock();
let scratch: Scratch;
let watchdog: Watchdog;
beforeAll(() => {
  scratch = openScratch();
  watchdog = new Watchdog(clock);
});
afterAll(() => {
  watchdog.stop();
  scratch.remove();
});

/** Cuts between an intent and its settlement: the outcome of the effect is unknown. */
const unknown = (intent: string, effect: string, settlement: string) => [
  `${intent}:after`,
  `${effect}:before`,
  `${effect}:inside`,
  `${effect}:after`,
  `${settlement}:before`,
];

/** Cuts on either side of commits. */
const around = (...commits: readonly string[]) =>
  commits.flatMap((commit) => [`${commit}:before`, `${commit}:after`]);

/** Cuts while the nth request for a summary is under way: from its intent until it is booked. */
const requested = (n: number) => [
  ...around(`structural.request#${n}`),
  ...[`provider.summary#${n}:before`, `provider.summary#${n}:inside`, `provider.summary#${n}:after`],
  `structural.request.settle#${n}:before`,
];

/** Cuts that lose an attempt at a summary of which nothing is booked: in its first request, the nth of all. */
const unbooked = (intent: string, n: number) => [`${intent}:after`, ...requested(n)];

/** Cuts that lose an attempt at a summary whose last request, the nth of all, is booked. */
const booked = (n: number, conclusion: string) => [
  `structural.request.settle#${n}:after`,
  `${conclusion}:before`,
];

/** The same for an attempt of two requests, the nth and the next: from when the first is booked. */
const bookedTwo = (n: number, conclusion: string) => [
  `structural.request.settle#${n}:after`,
  ...requested(n + 1),
  ...booked(n + 1, conclusion),
];

/** Cuts after which a deadline passes while the process is down. */
const overslept = (retry: string, sleep: string) => [`${retry}:after`, `${sleep}:before`];

const DIFFERS: Readonly<Record<string, readonly string[]>> = {
  // No retry is allowed: a request of unknown outcome ends the run as failed.
  "one-turn": unknown("generation.intent#1", "provider.request#1", "generation.settle.finish#1"),
  // The first call must never run twice: its result becomes `interrupted`. The second may be repeated.
  "two-tools": unknown("tool.intent#1", "tool.execute#1", "tool.settle#1"),
  // The second call must never run twice, and is pending from its intent until its result is committed in source order.
  "parallel-tools": [
    ...unknown("tool.intent#2", "tool.execute#2", "tool.settle#2"),
    ...["tool.intent#3:before", "tool.intent#3:after"],
    ...["tool.execute#3:before", "tool.execute#3:inside", "tool.execute#3:after"],
    ...["tool.settle#1:before", "tool.settle#1:after"],
  ],
  // The middle call cannot be executed, and the others may be repeated.
  "parallel-with-refusals": [],
  "tool-error": [
    // `delete_file` must never run twice; that it throws makes no difference to that.
    ...unknown("tool.intent#1", "tool.execute#1", "tool.settle#1"),
    // The lost answer was an error. It is asked again, fails again, and the wait is that of a second failure.
    ...unknown("generation.intent#2", "provider.request#2", "generation.settle.retry#1"),
    // The deadline passes while the process is down: only the times differ, by what was not waited.
    ...["generation.settle.retry#1:after", "timer.sleep#1:before"],
  ],
  // No call is executed, and requests may be tried again.
  "truncated-calls": [],
  "terminating-tool": unknown("tool.intent#1", "tool.execute#1", "tool.settle.last#1"),
  // One was safe when it was started and is not now, the other the other way round. The third is safe both times.
  "redeployed-tools": [
    ...unknown("tool.intent#1", "tool.execute#1", "tool.settle#1"),
    ...unknown("tool.intent#2", "tool.execute#2", "tool.settle#2"),
  ],
  // Requests may be tried again, and what is noted is noted once, before the death or after it.
  "notes-beside": [],
  // Its tool may be repeated and its requests may be tried again: nothing differs, anywhere.
  "large-result": [],
  // Its tool may be repeated and its requests may be tried again.
  "every-character": [],
  // A poll has no cap; the request has, and no retry is allowed.
  "deferred-ready": unknown("generation.intent#1", "provider.request#1", "generation.settle.deferred#1"),
  // Only times differ. Until the job is stored, the `resume()` that brings it has a permit left and polls at once.
  "deferred-pending-twice": [
    ...["acceptance.prompt#1:after", "generation.ready#1:before", "generation.ready#1:after"],
    "generation.intent#1:before",
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.deferred#1"),
  ],
  // The second call must never run twice.
  "deferred-tools": unknown("tool.intent#2", "tool.execute#2", "tool.settle.last#1"),
  "deferred-truncated": unknown("tool.intent#1", "tool.execute#1", "tool.settle.last#1"),
  // Whatever is unknown is asked again, and answered as before.
  "deferred-mismatch": [],
  "deferred-error": [],
  // As in `tool-error`: the lost answer was an error, and its deadline passes while the process is down.
  "deferred-after-tools": [
    ...unknown("generation.intent#2", "provider.request#2", "generation.settle.retry#1"),
    ...["generation.settle.retry#1:after", "timer.sleep#1:before"],
  ],
  // The call must never run twice. Nobody says again what was said while it ran, unless it is durable: the moment is over.
  "steer-while-tool-runs": [
    ...unknown("tool.intent#1", "tool.execute#1", "tool.settle.last#1"),
    ...around("queue.steer#1"),
  ],
  // Everything that was pending is asked or run again, and what was said then is said again unless it is durable.
  "follow-up-at-the-end": [],
  "goes-on-at-the-end": [],
  "steer-one-at-a-time": [],
  "steer-all-at-once": [],
  "steer-withdrawn": [],
  // No retry is allowed. What the user said is kept if it was durable; if not, the moment at which it was said is over.
  "steer-after-a-failure": [
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.failed#1"),
    ...around("queue.write#1", "queue.steer#1"),
    ...unknown("generation.intent#2", "provider.request#2", "generation.settle.finish#1"),
  ],
  "note-beside-a-failure": [
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.failed#1"),
    ...around("queue.write#1"),
  ],
  "write-while-tool-runs": [
    ...unknown("tool.intent#1", "tool.execute#1", "tool.settle.last#1"),
    ...around("queue.write#1", "queue.write#2"),
  ],
  "note-while-answering": [],
  "writes-between-runs": [],
  "next-run": [],
  "next-run-withdrawn": [],
  // Until the cancellation is durable the request is sent again, and cancelled again. After it, nobody learns the answer.
  "abort-while-answering": [
    "abort#1:after",
    ...around("queue.write#2"),
    "generation.settle.aborted#1:before",
  ],
  // The first call must never run twice, so its moment does not come again: what is not cancelled by then goes on.
  "abort-while-tool-runs": [
    ...unknown("tool.intent#1", "tool.execute#1", "tool.settle#1"),
    ...around("abort#1"),
  ],
  // The call may be repeated until the cancellation is durable; after that its result is lost.
  "abort-beside-safe-tool": ["abort#1:after", "tool.settle.last#1:before"],
  "abort-beside-other-calls": [
    // All three were pending and run again side by side, the third too, before the second brings its cancellation again.
    ...["tool.intent#3:after", "abort#1:before"],
    // Once that is durable nothing runs again. What ran, or may have, is interrupted; in the run that nobody cut the first
    // two kept their results, and the third was known not to have run.
    ...["abort#1:after", "tool.settle#1:before", "tool.settle#1:after"],
    ...["tool.settle#2:before", "tool.settle#2:after", "tool.settle#3:before"],
  ],
  // The deadline passes while the process is down, so nobody waits any more, and nobody cancels.
  "abort-while-waiting": [
    ...["generation.settle.retry#1:after", "timer.sleep#1:before", "timer.sleep#1:inside"],
    ...["timer.sleep#1:after", "abort#1:before"],
  ],
  // A poll is sent again, and cancelled again; once that is durable, nobody learns its answer. The request had no retry.
  "abort-while-polling": [
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.deferred#1"),
    "abort#1:after",
    ...["provider.cancel#1:before", "provider.cancel#1:inside", "provider.cancel#1:after"],
    "deferred.settle.aborted#1:before",
  ],
  // Until the job is stored, the `resume()` that brings it polls at once: the run is not suspended, and nobody cancels.
  "abort-while-suspended": [
    ...["acceptance.prompt#1:after", "generation.ready#1:before", "generation.ready#1:after"],
    "generation.intent#1:before",
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.deferred#1"),
  ],
  // The whole attempt is made again. What it has booked by then stands in the ledger beside the bills of the next one; of
  // a request that was not booked nothing is known, and the same is asked again.
  compact: [...bookedTwo(1, "manual.generated#1"), ...bookedTwo(3, "manual.generated#2")],
  // No request is made, and the hook is asked again until what it decides is durable, its bill with it.
  "compact-declined": [],
  "compact-by-hook": [],
  "compact-retry": [
    // The first attempt fails in every history, but if the process is gone before that is durable, nobody waits; and what
    // was not booked by then is not booked at all.
    ...unbooked("structural.intent#1", 1),
    ...bookedTwo(1, "structural.retry#1"),
    ...overslept("structural.retry#1", "timer.sleep#1"),
    // The second is followed by a third, which succeeds like it: only what the second has booked is booked twice.
    ...bookedTwo(3, "manual.generated#1"),
  ],
  "compact-at-cap": [
    // One bill less, and nobody waits; from the booking on only nobody waits, and the next prompt comes sooner.
    ...unbooked("structural.intent#1", 1),
    ...booked(1, "structural.retry#1"),
    ...overslept("structural.retry#1", "timer.sleep#1"),
    // No attempt is left: the operation fails in either case, with one bill less here. That it fails for another reason
    // once that is booked is no difference any more: the run of the next prompt has overwritten the result.
    ...unbooked("structural.intent#2", 2),
  ],
  // The first work is as in `compact`, by one request; the second as in `abort-threshold`.
  "compact-then-abort": [
    ...booked(1, "manual.generated#1"),
    ...["structural.abort#1:after", "structural.request.settle#2:before"],
  ],
  // As in `compact`. The tool may be repeated, and the request of a turn may be tried again.
  threshold: bookedTwo(1, "compaction.generated#1"),
  "threshold-declined": [],
  "threshold-by-hook": [],
  "threshold-empty": [],
  // A lost failure is asked for again, with the same words: the run fails with them, and has booked the request once more.
  "threshold-summary-fails": booked(1, "compaction.failed#1"),
  // No retry is allowed, neither of the turn nor of the summary: whichever is lost, the run fails.
  "threshold-once": [
    ...unknown("generation.intent#1", "provider.request#1", "generation.settle.finish#1"),
    ...unbooked("structural.intent#1", 1),
    ...booked(1, "compaction.generated#1"),
  ],
  // A lost overflow is found again, and counts as the first. The summary is that of `compact`, by one request.
  "overflow-error": booked(1, "compaction.generated#1"),
  "overflow-reported": booked(1, "compaction.generated#1"),
  "overflow-short-length": booked(1, "compaction.generated#1"),
  "overflow-twice": booked(1, "compaction.generated#1"),
  "overflow-empty": [],
  "overflow-declined": [],
  "overflow-by-hook": [],
  // As in `compact-retry`, by one request an attempt.
  "overflow-summary-retry": [
    ...unbooked("structural.intent#1", 1),
    ...booked(1, "structural.retry#1"),
    ...overslept("structural.retry#1", "timer.sleep#1"),
    ...booked(2, "compaction.generated#1"),
  ],
  // No effect at all: a navigation happened, or it did not and is asked for again.
  navigate: [],
  "navigate-summary": booked(1, "navigation.generated#1"),
  "navigate-by-hook": [],
  "navigate-declined": [],
  // As in `compact-at-cap`, with two waits.
  "navigate-summary-fails": [
    ...unbooked("structural.intent#1", 1),
    ...booked(1, "structural.retry#1"),
    ...overslept("structural.retry#1", "timer.sleep#1"),
    ...unbooked("structural.intent#2", 2),
    ...booked(2, "structural.retry#2"),
    ...overslept("structural.retry#2", "timer.sleep#2"),
    ...unbooked("structural.intent#3", 3),
  ],
  // An attempt without a request books nothing.
  "navigate-nothing-to-summarize": [],
  // The request is asked again, and what was said then is said again unless it is durable; once booked, it is booked twice.
  "steer-while-compacting": booked(1, "compaction.generated#1"),
  "abort-compaction": [
    // Until the cancellation is durable the whole attempt is made again, and cancelled again: the first request is booked
    // twice.
    "structural.request.settle#1:after",
    ...around("structural.request#2"),
    ...["provider.summary#2:before", "provider.summary#2:inside", "provider.summary#2:after"],
    // After it, nobody learns what the second has cost.
    ...around("structural.abort#1"),
    "structural.request.settle#2:before",
  ],
  // What the hook supplies is dropped in either case, and its cost with it.
  "abort-navigation": [],
  // The attempt is made again, and cancelled again; once that is durable, nobody learns what its request has cost.
  "abort-threshold": ["abort#1:after", "structural.request.settle#1:before"],
};

async function differing(scenario: Scenario, subject: Subject): Promise<Set<string>> {
  const host = { clock, folder: scratch.folder };
  const context = runContext(scenario, subject, 1, host, watchdog, []);
  const differs = new Set<string>();
  let reference: string | undefined;
  await exploreCrashes(
    context,
    { depth: 1, wants: () => true, enough: () => false, secondDeaths: false, recoverEach: false },
    {
      saw: () => undefined,
      judged: ({ violations }, [cut], digest) => {
        expect(violations).toEqual([]);
        if (cut === undefined) reference = digest;
        else if (digest !== reference) {
          const { label, occurrence, position } = cut;
          differs.add(cutRefName({ label, occurrence, position }));
        }
      },
    },
  );
  return differs;
}

describe("recovery ends where the run that nobody cut ends, but for the policy", () => {
  it("is written down for every scenario", () => {
    expect(Object.keys(DIFFERS)).toEqual(SCENARIOS.map(({ name }) => name));
  });

  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    "at exactly the cuts that the table names: %s",
    async (name, scenario) => {
      const byHand = DIFFERS[name] ?? [];
      // That SQLite agrees with Memory, cut by cut, is judged wherever both are explored.
      const found = await differing(scenario, subjectById("memory") as Subject);
      expect([...found].sort()).toEqual([...byHand].sort());
      // A torn commit is as if it had not begun.
      const isCommit = (cut: string) => !/^(provider|tool\.execute|timer)/.test(cut);
      const torn = byHand.filter((cut) => isCommit(cut) && cut.endsWith(":before"));
      const onJsonl = [...byHand, ...torn.map((cut) => cut.replace(/before$/, "inside"))];
      const foundOnJsonl = await differing(scenario, subjectById("jsonl") as Subject);
      expect([...foundOnJsonl].sort()).toEqual(onJsonl.sort());
    },
    180_000,
  );
});
