/**
 * One run again, by its id: the same subject, scenario, seed and cuts, with everything that was observed.
 */
import { cutRefName, type RunId, type Scenario, type TimelineEvent } from "../faults/index.ts";
import type { Subject } from "../subject/index.ts";
import { exploreCrashes } from "./crash/crash.ts";
import { compareDrives, type ExploreHost, runContext } from "./explore.ts";
import type { Judgement } from "./result.ts";
import { Watchdog } from "./watchdog.ts";

/** A repeated run. `events` is empty where nothing but a comparison was made. */
export interface ReproResult {
  readonly judgement: Judgement;
  readonly events: readonly TimelineEvent[];
}

/** What the caller looked up for the id. */
export interface ReproParts {
  readonly id: RunId;
  readonly text: string;
  readonly scenario: Scenario;
  /** The subject, or all subjects of the family for a `backends` run. */
  readonly subjects: readonly Subject[];
}

/** Repeats the run. A cut that the run never reaches is inconclusive. */
export async function repro(parts: ReproParts, host: ExploreHost): Promise<ReproResult> {
  const watchdog = new Watchdog(host.clock);
  try {
    const { kind } = parts.id;
    return kind === "backends"
      ? await reproBackends(parts, host, watchdog)
      : await reproOne(parts, host, watchdog);
  } finally {
    watchdog.stop();
  }
}

async function reproOne(parts: ReproParts, host: ExploreHost, watchdog: Watchdog): Promise<ReproResult> {
  const [subject] = parts.subjects;
  if (subject === undefined) return notReached(parts);
  const found = await runCut(parts, subject, host, watchdog);
  if (parts.id.kind === "drives" && found.reference !== undefined) {
    const context = runContext(parts.scenario, subject, parts.id.seed, host, watchdog, []);
    const [judgement] = await compareDrives(context, found.reference);
    return judgement === undefined ? notReached(parts) : { judgement, events: [] };
  }
  return found.result ?? notReached(parts);
}

async function reproBackends(parts: ReproParts, host: ExploreHost, watchdog: Watchdog): Promise<ReproResult> {
  const digests = new Map<string, string>();
  for (const subject of parts.subjects) {
    const { digest } = await runCut(parts, subject, host, watchdog);
    if (digest !== undefined) digests.set(subject.id, digest);
  }
  if (digests.size < 2) return notReached(parts);
  const same = new Set(digests.values()).size === 1;
  const message = [...digests].map(([subject, digest]) => `${subject} ${digest.slice(0, 12)}`).join(", ");
  const violations = same ? [] : [{ checker: "backends-agree", signature: "backends-differ", message }];
  return { judgement: { id: parts.text, violations }, events: [] };
}

async function runCut(
  { id, scenario, text }: ReproParts,
  subject: Subject,
  host: ExploreHost,
  watchdog: Watchdog,
) {
  const context = { ...runContext(scenario, subject, id.seed, host, watchdog, []), isNamed: true };
  const wanted = id.cuts.map(cutRefName);
  const isWanted = (path: readonly { label: string }[]) => path.length === wanted.length;
  let judgement: Judgement | undefined;
  let events: readonly TimelineEvent[] = [];
  let digest: string | undefined;
  const reference = await exploreCrashes(
    context,
    {
      depth: Math.max(1, wanted.length),
      wants: (path, cut) => cutRefName(cut) === wanted[path.length],
      enough: () => judgement !== undefined,
    },
    {
      saw: () => undefined,
      judged: (found, path, foundDigest) => {
        if (!isWanted(path)) return;
        judgement = { ...found, id: text };
        digest = foundDigest;
      },
      observed: (path, observed) => {
        if (isWanted(path)) events = observed;
      },
    },
  );
  return { reference, digest, result: judgement === undefined ? undefined : { judgement, events } };
}

function notReached({ text }: ReproParts): ReproResult {
  const message = "the run never came to that cut; the scenario, the runtime or the id has changed";
  return {
    judgement: { id: text, violations: [], inconclusive: { signature: "not-reached", message } },
    events: [],
  };
}
