/**
 * One damage of a commit: the damaged bytes are read, opened and gone on with.
 *
 * What must hold of each damage.
 * 1. It is read as the session before the last commit or as the one after it, whichever the format says, or it is
 *    refused with a named reason. Never as anything else.
 * 2. Opening it for writing agrees with reading it. A file of lines that is refused keeps its bytes.
 * 3. Where it opens, recovery reaches what it would have reached from there after a plain death.
 *
 * A damage that leaves the bytes as they were is no damage: inconclusive. One that passes unnoticed where the format
 * does not promise to notice it is counted apart.
 *
 * A recovery costs many times what a reading does, and of the many places at which one kind of damage was done all those
 * read alike should recover alike. So it is executed for the first of them and for one in `RECOVERED_SHARE` of the
 * others, unless the plan asks for each; and again from the first on once one was broken.
 */
import { compareViews, describeDifference, type Violation } from "../../checkers/index.ts";
import type { Disk, DiskFile, View } from "../../subject/index.ts";
import { expectationOf, recoveryOf } from "../crash/recovery.ts";
import type { FaultRun } from "../fault-sink.ts";
import { doubt, FINE, type Finding, judge, together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { faultRunIdOf } from "../run-ids.ts";
import { forkStanding, type RunContext, restarted, runToEnd, type Standing } from "../standing.ts";
import type { CommitSeen } from "./commits.ts";
import type { Damage, Reading } from "./damage.ts";
import { broken, isNamed, messageOf, unnamed } from "./refusals.ts";

/** Of the recoveries from one kind of damage that read alike, one in this many is executed. */
const RECOVERED_SHARE = 16;

/** What is found in damaged bytes. */
type Found =
  | { readonly reading: Exclude<Reading, "refused">; readonly view: View }
  | { readonly reading: "refused"; readonly error: unknown }
  | { readonly reading: "earlier" | "other"; readonly view: View };

/** The damages of one commit, one after another. */
export class Trials {
  readonly #context: RunContext;
  readonly #commit: CommitSeen;
  readonly #uninterrupted: View;
  readonly #recoverEach: boolean;
  /** How often a kind of damage was read in one way. */
  readonly #counts = new Map<string, number>();

  constructor(context: RunContext, commit: CommitSeen, uninterrupted: View, recoverEach: boolean) {
    this.#context = context;
    this.#commit = commit;
    this.#uninterrupted = uninterrupted;
    this.#recoverEach = recoverEach;
  }

  async try(damage: Damage, fault: string): Promise<FaultRun> {
    const { subject, folder } = this.#context;
    const id = faultRunIdOf(this.#context, "torn", fault);
    const contents = damage.contents();
    if (isUnchanged(this.#commit.files, contents))
      return { judgement: { id, ...NO_DAMAGE }, isRecovered: false, events: [] };
    const disk = this.#commit.after.disk.withFiles?.(contents, folder);
    if (disk === undefined) throw new Error(`${subject.id} has files that cannot be damaged`);
    try {
      return await this.#tried(damage, fault, id, disk);
    } finally {
      disk.dispose();
    }
  }

  async #tried(damage: Damage, fault: string, id: string, disk: Disk): Promise<FaultRun> {
    const found = await this.#read(disk);
    const finding = findingOf(damage, found, this.#commit);
    const first: Judgement = { id, ...finding };
    if (finding.violations.length > 0 || finding.limit !== undefined) {
      return { judgement: first, isRecovered: false, events: [] };
    }
    switch (found.reading) {
      case "refused":
        return this.#refused(first, fault, disk);
      case "previous":
      case "complete":
        if (this.#isExecuted(`${damage.kind} ${found.reading}`)) {
          return this.#recovered(first, fault, disk, found);
        }
        return { judgement: first, isRecovered: false, events: [] };
      case "earlier":
      case "other":
        throw new Error(`${damage.name} allows no such reading`);
    }
  }

  async #read(disk: Disk): Promise<Found> {
    const { previous, complete, after } = this.#commit;
    let view: View;
    try {
      view = await this.#context.subject.view(disk, { downtimes: after.downtimes });
    } catch (error) {
      return { reading: "refused", error };
    }
    if (view.exact === complete.exact) return { reading: "complete", view };
    if (view.exact === previous.exact) return { reading: "previous", view };
    return { reading: this.#commit.earlier.has(view.exact) ? "earlier" : "other", view };
  }

  /** Opening must refuse it as reading did, and leave its bytes alone. */
  async #refused(first: Judgement, fault: string, disk: Disk): Promise<FaultRun> {
    const before = disk.files?.() ?? [];
    const standing = this.#standing("after", fault, disk);
    const end = await runToEnd(this.#context, standing);
    const after = new Map((disk.files?.() ?? []).map((file) => [file.name, file.bytes]));
    const events = [...standing.events, ...end.events];
    // A database is opened, and written to, before it is known where it is damaged; what is met of it later is refused
    // then, and what is not met is still there for whoever reads it all.
    const isRead = before.every(({ format }) => format.kind === "lines");
    const violations: Violation[] = [];
    if (end.kind !== "refused" && (isRead || end.kind !== "unreadable")) {
      violations.push(
        broken("opened", `it is refused where it is read, and opening it ended as ${end.kind}`),
      );
    } else if (!isNamed(end.error)) violations.push(unnamed(end.error));
    if (isRead && !isUnchanged(before, after)) {
      violations.push(broken("refused and changed", "opening refused it, and its bytes are others now"));
    }
    return { judgement: together(first, { violations }), isRecovered: false, events };
  }

  async #recovered(
    first: Judgement,
    fault: string,
    disk: Disk,
    { reading, view }: Extract<Found, { reading: "previous" | "complete" }>,
  ): Promise<FaultRun> {
    const { boundary } = this.#commit;
    const cut = { boundary, position: reading === "complete" ? "after" : "before" } as const;
    const standing = this.#standing(cut.position, fault, disk);
    const expectation = await expectationOf(this.#context, cut, async () => view, this.#uninterrupted);
    const end = await runToEnd(this.#context, standing);
    const reached = end.kind === "settled" ? end.view : undefined;
    const judgement = together(first, judge(first.id, end), recoveryOf(expectation, reached));
    // What is broken is looked at closely from here on.
    if (judgement.violations.length > 0) this.#counts.clear();
    return { judgement, isRecovered: true, events: [...standing.events, ...end.events] };
  }

  /** What is left of the run on that side of the commit, over the damaged disk, at the time of the restart. */
  #standing(side: "before" | "after", fault: string, disk: Disk): Standing {
    const left = forkStanding(this.#commit[side], this.#context.folder, disk);
    return restarted({ ...left, events: [...left.events.slice(0, -1), { kind: "crash", at: fault }] });
  }

  #isExecuted(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return this.#recoverEach || count % RECOVERED_SHARE === 0;
  }
}

function findingOf(damage: Damage, found: Found, commit: CommitSeen): Finding {
  const { allows, unpromised } = damage;
  if (found.reading === "refused" && !isNamed(found.error)) return { violations: [unnamed(found.error)] };
  if (allows.some((reading) => reading === found.reading)) return FINE;
  const what = described(found, commit);
  if (unpromised !== undefined) {
    const signature = `${damage.kind}: ${UNPROMISED[found.reading]}`;
    return { violations: [], limit: { signature, message: `${unpromised}; ${what}` } };
  }
  const right = allows.map((reading) => WORDS[reading]).join(" or ");
  return { violations: [broken(`${damage.kind}: ${found.reading}`, `what is right is ${right}; ${what}`)] };
}

const WORDS: Readonly<Record<Reading, string>> = {
  previous: "the session before the commit",
  complete: "the session after the commit",
  refused: "a refusal",
};

/** What is said where nobody promises anything, by what was found. */
const UNPROMISED: Readonly<Record<Found["reading"], string>> = {
  previous: "the last commit is gone",
  earlier: "the last commits are gone",
  other: "unnoticed",
  complete: "complete",
  refused: "refused",
};

function described(found: Found, { complete }: CommitSeen): string {
  switch (found.reading) {
    case "refused":
      return `it is refused: ${messageOf(found.error)}`;
    case "previous":
    case "complete":
      return `it is read as ${WORDS[found.reading]}`;
    case "earlier":
      return "it is read as the session before an earlier commit";
    case "other": {
      const difference = compareViews(complete.exact, found.view.exact);
      const where = difference === undefined ? "" : `, ${describeDifference(difference)}`;
      return `it is read as something else${where}`;
    }
  }
}

const NO_DAMAGE = doubt("fault-not-fired", "the damage left every byte as it was");

function isUnchanged(files: readonly DiskFile[], contents: ReadonlyMap<string, Uint8Array>): boolean {
  return (
    files.length === contents.size &&
    files.every(({ name, bytes }) => {
      const found = contents.get(name);
      return found !== undefined && Buffer.compare(bytes, found) === 0;
    })
  );
}
