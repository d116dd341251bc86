/**
 * Second deaths where only recoveries make a commit: the rows of the specification that no first life comes by.
 *
 * Cutting every recovery again (`depth` 2) costs the square of a scenario. But rows such as the interrupted result of a
 * tool are made by recoveries alone, and a row that is never cut was never looked at. So the first pass notes in which
 * recovery each row was made first, and for the rows that it did not come by itself that one recovery is cut again,
 * before and after the row.
 *
 * A row that no recovery makes either stays missing, by its name.
 */
import type { CutRef, TimelineEvent } from "../faults/index.ts";
import type { Clock } from "../foundation/index.ts";
import type { Subject } from "../subject/index.ts";
import { GroupTally } from "./collect.ts";
import { type CrashPlan, type CrashSink, exploreCrashes } from "./crash/crash.ts";
import type { RunContext } from "./standing.ts";

/** The recovery that first made a row. */
export interface RowSource {
  readonly context: RunContext;
  /** The death that it recovered from. */
  readonly cut: CutRef;
}

/** Where the rows of one subject were made by recoveries, over all scenarios of a plan. */
export class RecoveryRows {
  readonly #sources = new Map<string, RowSource>();

  /** Takes a run of one death, with its events; the lives of the context name their commits. */
  observed(context: RunContext, path: readonly CutRef[], events: readonly TimelineEvent[]): void {
    const [cut] = path;
    if (cut === undefined || path.length > 1) return;
    const death = events.findLastIndex(({ kind }) => kind === "crash");
    for (const event of events.slice(death + 1)) {
      if (event.kind !== "commit" || this.#sources.has(event.boundary.label)) continue;
      this.#sources.set(event.boundary.label, { context, cut });
    }
  }

  /** Of the given rows, those that a recovery made. */
  of(rows: readonly string[]): readonly { readonly row: string; readonly source: RowSource }[] {
    return rows.flatMap((row) => {
      const source = this.#sources.get(row);
      return source === undefined ? [] : [{ row, source }];
    });
  }
}

/** What the second pass goes by. */
export interface SecondPass {
  readonly plan: { readonly subjects: readonly Subject[]; readonly checkersOff: readonly string[] };
  readonly host: { readonly clock: Clock };
  readonly wants: CrashPlan["wants"];
  /** By subject. */
  readonly recoveryRows: ReadonlyMap<string, RecoveryRows>;
}

/** Cuts the rows that the groups of the first pass did not come by, in the recoveries that make them. */
export async function secondDeathGroups(
  { plan, host, wants, recoveryRows }: SecondPass,
  first: readonly GroupTally[],
): Promise<GroupTally[]> {
  const groups: GroupTally[] = [];
  for (const { id, rows } of plan.subjects) {
    const groupsOfIt = first.filter(({ subject }) => subject === id);
    const known = new Set(groupsOfIt.flatMap((group) => group.labelsSeen));
    const unknown = rows.filter((row) => !known.has(row));
    for (const { row, source } of recoveryRows.get(id)?.of(unknown) ?? []) {
      const { scenario } = source.context;
      const begun = groups.find((group) => group.scenario === scenario.name && group.subject === id);
      const tally = begun ?? new GroupTally("second", scenario.name, id, plan.checkersOff);
      if (begun === undefined) groups.push(tally);
      const startMs = host.clock.now();
      await dieTwice(source, row, wants, {
        saw: (_path, second) => tally.saw(second),
        recovered: (how) => tally.recovered(how),
        judged: (judgement, path) => tally.judged(judgement, path),
      });
      tally.elapsedMs += host.clock.now() - startMs;
    }
  }
  return groups;
}

/** Dies at the source of a row once more, and then before and after the row. Tells of the second deaths only. */
async function dieTwice(
  { context, cut }: RowSource,
  row: string,
  wants: CrashPlan["wants"],
  sink: Pick<CrashSink, "saw" | "recovered" | "judged">,
): Promise<void> {
  const wanted = new Set(["before", "after"]);
  const unseen = new Set(wanted);
  const plan: CrashPlan = {
    depth: 2,
    recoverEach: false,
    wants: (path, other) => {
      if (path.length === 0) return isSame(other, cut);
      if (other.label !== row || !wants(path, other)) return false;
      return wanted.delete(other.position);
    },
    enough: () => wanted.size === 0,
  };
  let how: Parameters<NonNullable<CrashSink["recovered"]>>[0] | undefined;
  await exploreCrashes({ ...context, isNamed: false }, plan, {
    saw: (path, second) => {
      if (path.length === 1 && second.label === row && unseen.delete(second.position)) sink.saw(path, second);
    },
    recovered: (known) => {
      how = known;
    },
    judged: (judgement, path, digest) => {
      if (path.length < 2) return;
      if (how !== undefined) sink.recovered?.(how);
      sink.judged(judgement, path, digest);
    },
  });
}

function isSame(one: CutRef, other: CutRef): boolean {
  return (
    one.label === other.label &&
    one.occurrence === other.occurrence &&
    one.position === other.position &&
    one.bytesWritten === other.bytesWritten
  );
}
