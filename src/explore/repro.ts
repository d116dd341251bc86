/**
 * One run again, by its id: the same subject, scenario, seed and cuts, with everything that was observed.
 */
import { cutRefName, type Scenario, type TimelineEvent } from "../faults/index.ts";
import { absurd } from "../foundation/index.ts";
import type { Subject } from "../subject/index.ts";
import { exploreCrashes } from "./crash/crash.ts";
import { crashAgain, type FoundAgain } from "./crash-again.ts";
import { twice } from "./determinism/determinism.ts";
import { diskFaultAgain } from "./disk-faults/disk-faults.ts";
import type { FaultSink } from "./fault-sink.ts";
import { MIXTURES } from "./fuzz/arbitrary.ts";
import { fuzzAgain } from "./fuzz/fuzz.ts";
import { agreementOf, doubt, together } from "./judgement.ts";
import { simulateDeaths } from "./kill/deaths.ts";
import { canBeKilled, exploreKills } from "./kill/kill.ts";
import { leaseAgain } from "./lease/leases.ts";
import { type ExploreHost, runContext } from "./plan.ts";
import { raceAgain } from "./race/again.ts";
import { expectedOf, type ReproParts } from "./repro-parts.ts";
import type { Judgement } from "./result.ts";
import { type RunContext, runUncut } from "./standing.ts";
import { exploreTakeovers } from "./takeover.ts";
import { tornAgain } from "./torn/torn.ts";
import { compareDrives } from "./units/crashes.ts";
import { Watchdog } from "./watchdog.ts";
import { worldFaultAgain } from "./world-faults/world-faults.ts";

/** A repeated run. `events` is empty where nothing but a comparison was made. */
export interface ReproResult {
  readonly judgement: Judgement;
  readonly events: readonly TimelineEvent[];
  /** What was drawn, where the run is a generated case. */
  readonly generated?: { readonly scenario: Scenario; readonly faults: readonly object[] };
}

/** Repeats the run. A cut that the run never reaches is inconclusive, and so are parts that make no run. */
export async function repro(parts: ReproParts, host: ExploreHost): Promise<ReproResult> {
  const expected = expectedOf(parts);
  if (expected !== undefined) return notReached(parts, `this is no run; expected ${expected}`);
  const watchdog = new Watchdog(host.clock);
  try {
    const again = { parts, host, watchdog };
    switch (parts.id.kind) {
      case "backends":
        return await reproBackends(again);
      case "drives":
        return await reproDrives(again);
      case "kill":
        return await reproKill(again);
      case "takeover":
        return await reproTakeover(again);
      case "walk":
      case "crash":
        return await reproCrash(again);
      case "determinism":
        return await reproDeterminism(again);
      case "torn":
        return await reproFault(again, (context, fault, sink) => {
          const at = fault.lastIndexOf(":");
          return tornAgain(context, { commit: fault.slice(0, at), damage: fault.slice(at + 1) }, sink);
        });
      case "race":
        return await reproRace(again);
      case "disk-fault":
        return await reproFault(again, diskFaultAgain);
      case "fuzz":
        return await reproFuzz(again);
      case "lease":
        return await reproFault(again, leaseAgain);
      case "world-fault":
        return await reproFault(again, worldFaultAgain);
      default:
        return absurd(parts.id.kind, "kind of run");
    }
  } finally {
    watchdog.stop();
  }
}

interface Again {
  readonly parts: ReproParts;
  readonly host: ExploreHost;
  readonly watchdog: Watchdog;
}

async function reproCrash(again: Again): Promise<ReproResult> {
  const { judgement, events } = await runCut(again, contextOf(again));
  return judgement === undefined ? notReached(again.parts) : { judgement, events };
}

async function reproDrives(again: Again): Promise<ReproResult> {
  const { parts } = again;
  const context = contextOf(again);
  const reference = await runUncut(context);
  // An id names no drive: what was found with any of them is found again.
  const [first, ...more] = reference.kind === "settled" ? await compareDrives(context, reference.view) : [];
  if (first === undefined) return notReached(parts);
  return { judgement: together({ ...first, id: parts.text }, ...more), events: [] };
}

async function reproKill(again: Again): Promise<ReproResult> {
  const { parts, host } = again;
  const context = contextOf(again);
  const wanted = parts.id.cuts.map(cutRefName).join("+");
  if (!canBeKilled(context.subject)) return notReached(parts);
  const deaths = await simulateDeaths(context, (cut) => cutRefName(cut) === wanted);
  if (deaths.length === 0) return notReached(parts);
  let found: Judgement | undefined;
  if (host.killPool === undefined) throw new Error("a real kill needs a pool of children");
  await exploreKills([{ context, deaths }], host.killPool, host.folder, (_target, judgement) => {
    found = judgement;
  });
  return found === undefined ? notReached(parts) : { judgement: found, events: [] };
}

async function reproTakeover(again: Again): Promise<ReproResult> {
  const { text, id } = again.parts;
  const wanted = id.cuts.map(cutRefName).join("+");
  let found: Judgement | undefined;
  let events: readonly TimelineEvent[] = [];
  await exploreTakeovers(contextOf(again), {
    wants: (cut) => cutRefName(cut) === wanted,
    judged: (judgement, cut) => {
      if (cut !== undefined || found === undefined) found = { ...judgement, id: text };
    },
    observed: (_cut, observed) => {
      events = observed;
    },
  });
  return found === undefined ? notReached(again.parts) : { judgement: found, events };
}

async function reproDeterminism(again: Again): Promise<ReproResult> {
  let found: ReproResult | undefined;
  await twice(contextOf(again), again.parts.id.cuts[0], (judgement, events) => {
    found = { judgement: { ...judgement, id: again.parts.text }, events };
  });
  return found ?? notReached(again.parts);
}

async function reproFault(
  again: Again,
  run: (context: RunContext, fault: string, sink: FaultSink) => Promise<void>,
): Promise<ReproResult> {
  const { text, id } = again.parts;
  let found: ReproResult | undefined;
  await run(contextOf(again), id.fault ?? "", (_name, { judgement, events }) => {
    found = { judgement: { ...judgement, id: text }, events };
  });
  return found ?? notReached(again.parts);
}

/** On one subject, or on several that must leave the same. */
async function reproRace(again: Again): Promise<ReproResult> {
  const { parts } = again;
  const { race, id, text, subjects } = parts;
  if (race === undefined) return notReached(parts);
  const digests = new Map<string, string>();
  for (const subject of subjects) {
    const { judgement, events, digest, reason } = await raceAgain(contextOf(again, subject), race, id, text);
    if (judgement === undefined) return notReached(parts, reason);
    if (subjects.length === 1) return { judgement, events };
    if (digest !== undefined) digests.set(subject.id, digest);
  }
  return compared(parts, digests);
}

async function reproFuzz({ parts, host, watchdog }: Again): Promise<ReproResult> {
  const { id, text, subjects } = parts;
  const mixture = MIXTURES.find((one) => one === id.scenario);
  if (mixture === undefined) return notReached(parts);
  const found: Judgement[] = [];
  let observed: Pick<ReproResult, "events" | "generated"> = { events: [] };
  const contextOf = (scenario: Scenario, subject: Subject, seed: number) => {
    return { ...runContext(scenario, subject, seed, host, watchdog, []), isNamed: true };
  };
  await fuzzAgain(
    { mixture, seed: id.seed, path: id.fault ?? "" },
    { subjects, clock: host.clock, contextOf },
    {
      judged: (judgement) => found.push(judgement),
      observed: ({ events }, { scenario, faults }) => {
        observed = { events, generated: { scenario, faults } };
      },
    },
  );
  const [first, ...more] = found;
  if (first === undefined) return notReached(parts);
  return { judgement: together({ ...first, id: text }, ...more), ...observed };
}

async function reproBackends(again: Again): Promise<ReproResult> {
  const { parts } = again;
  const digests = new Map<string, string>();
  for (const subject of parts.subjects) {
    const { digest } = await runCut(again, contextOf(again, subject));
    if (digest !== undefined) digests.set(subject.id, digest);
  }
  return compared(parts, digests);
}

/** Whether several subjects came to the same. That some of them did says nothing of one that did not come there. */
function compared(parts: ReproParts, digests: ReadonlyMap<string, string>): ReproResult {
  if (digests.size < Math.max(2, parts.subjects.length)) return notReached(parts);
  return { judgement: { id: parts.text, ...agreementOf(digests) }, events: [] };
}

/** The context of the run's subject, or of another one that must agree with it; every life of it is named, for the reader. */
function contextOf({ parts, host, watchdog }: Again, subject = parts.subjects[0]): RunContext {
  const { scenario } = parts;
  if (subject === undefined || scenario === undefined) {
    throw new Error(`no subject or no scenario was found for ${parts.text}`);
  }
  return { ...runContext(scenario, subject, parts.id.seed, host, watchdog, []), isNamed: true };
}

function runCut({ parts: { id, text } }: Again, context: RunContext): Promise<FoundAgain> {
  return crashAgain(id.cuts, text, (plan, sink) => exploreCrashes(context, plan, sink));
}

function notReached(
  { text }: ReproParts,
  message = "the run never came to that cut; the scenario, the runtime or the id has changed",
): ReproResult {
  return {
    judgement: { id: text, ...doubt("not-reached", message) },
    events: [],
  };
}
