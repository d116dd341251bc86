/**
 * One fuzz case on one subject: life after life, each fault in its own, and everything that is to be judged of it.
 *
 * Before a fault befalls a life, a copy of the life is lived to its end. So it is known how many boundaries there are and
 * the fault is placed at one of them, never beside; the copy is judged as the recovery from all faults before; and what it
 * reached is what recovery from this fault has to reach, where the subject can say what that is.
 *
 * Terms. *Whole life*: that copy. The whole life after the last fault is the end of the case; it is opened once more.
 *
 * A fault to which a life gives no occasion, because all is done, is not made. One that was placed and did not fire makes
 * the run inconclusive.
 */
import { isExactlySame } from "../../checkers/index.ts";
import type { Cut, Scenario, TimelineEvent } from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { digestOf } from "../crash/crash.ts";
import { expectationOf, recoveryOf } from "../crash/recovery.ts";
import { copyOf } from "../disk-faults/course.ts";
import { doubt, FINE, type Finding, findingOf, judge, refusal, together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { firstStanding, forkStanding, type RunContext, type Standing } from "../standing.ts";
import { failDisk } from "./disk-fault.ts";
import { die, type Lived, live, type Schedule } from "./lives.ts";
import { judgeByModel, type LifeHistory } from "./model/reference-model.ts";
import type { FaultPlan } from "./plan.ts";

/** A case, ready to be run. */
export interface FuzzCase {
  readonly scenario: Scenario;
  readonly faults: readonly FaultPlan[];
  readonly schedule: Schedule;
}

/** What became of it. */
export interface CaseRun {
  readonly judgement: Judgement;
  /** Of the canonical view at the end; undefined if it did not come to it, or if what befell it is its medium's own. */
  readonly digest: string | undefined;
  /** Faults that were made. */
  readonly faultCount: number;
  readonly events: readonly TimelineEvent[];
}

/** Runs a case; `context` is that of its scenario. */
export async function runCase(context: RunContext, fuzzCase: FuzzCase, id: string): Promise<CaseRun> {
  const course = new CaseCourse(context, fuzzCase, id);
  try {
    return await course.run();
  } finally {
    course.dispose();
  }
}

class CaseCourse {
  readonly #context: RunContext;
  readonly #case: FuzzCase;
  readonly #id: string;
  readonly #standings: Standing[] = [];
  readonly #lives: LifeHistory[] = [];
  #isComparable = true;
  /** What the whole life from here has to reach; undefined where nobody says. */
  #expectation: RecoveryExpectation | undefined;

  constructor(context: RunContext, fuzzCase: FuzzCase, id: string) {
    this.#context = context;
    this.#case = fuzzCase;
    this.#id = id;
  }

  dispose(): void {
    for (const { disk } of this.#standings) disk.dispose();
  }

  async run(): Promise<CaseRun> {
    let standing = this.#keep(await firstStanding(this.#context));
    for (const fault of this.#case.faults) {
      const whole = await this.#whole(forkStanding(standing, this.#context.folder));
      const found = this.#judge(whole);
      if (whole.end.kind !== "settled" || isDecided(found)) return this.#ended(found, standing, whole);
      if (whole.boundaryCount === 0) break;
      const next = await this.#befall(standing, fault, whole, whole.end.view);
      if ("violations" in next) return this.#ended(next, standing, whole);
      standing = this.#keep(next);
    }
    return this.#last(standing);
  }

  /** The life after the last fault, and what is asked at the end of a case. */
  async #last(standing: Standing): Promise<CaseRun> {
    // On a disk of its own kind: a copy in memory could not be opened again.
    const last = copyOf(standing, this.#context.folder);
    const whole = await this.#whole(last);
    const found = this.#judge(whole);
    if (whole.end.kind !== "settled") return this.#ended(found, standing, whole);
    const { view } = whole.end;
    const account = this.#context.subject.account?.(view);
    const lives = [...this.#lives, { told: whole.told, left: undefined }];
    const byModel =
      account === undefined
        ? FINE
        : judgeByModel({ scenario: this.#case.scenario, lives, end: account, rows: last.world.rows });
    const reopened = await this.#reopen(last, view);
    const run = this.#ended(together(found, byModel, reopened), standing, whole);
    return { ...run, digest: this.#isComparable ? digestOf(view) : undefined };
  }

  async #whole(standing: Standing): Promise<Lived> {
    this.#keep(standing);
    return live(this.#context, standing, this.#case.schedule);
  }

  #judge({ end }: Lived): Judgement {
    const reached = end.kind === "settled" ? end.view : undefined;
    const recovery = recoveryOf(this.#expectation, reached);
    return together(judge(this.#id, end), recovery);
  }

  /** Makes a fault: what to go on from, or why there is no going on. */
  async #befall(
    standing: Standing,
    fault: FaultPlan,
    whole: Lived,
    reached: View,
  ): Promise<Standing | Judgement> {
    switch (fault.fault) {
      case "death":
        return this.#kill(standing, fault, whole, reached);
      case "disk": {
        this.#expectation = undefined;
        const failed = await failDisk(this.#context, standing, this.#case.schedule, fault);
        if (failed === undefined) return standing;
        this.#isComparable = false;
        this.#keep(failed.next);
        this.#lives.push({ told: failed.told, left: undefined });
        return isDecided(failed.finding) ? { id: this.#id, ...failed.finding } : failed.next;
      }
      default:
        return absurd(fault, "fault");
    }
  }

  async #kill(
    standing: Standing,
    { at, position }: Extract<FaultPlan, { fault: "death" }>,
    { boundaryCount }: Lived,
    reached: View,
  ): Promise<Standing | Judgement> {
    const index = Math.floor((at * boundaryCount) / 1000);
    const died = await die(this.#context, standing, this.#case.schedule, { index, position });
    if (died === undefined) {
      const message = `the life was to die at boundary ${index} of ${boundaryCount}, and did not come there`;
      return { id: this.#id, ...doubt("fault-not-fired", message) };
    }
    const { atCut, cut, next, told } = died;
    this.#keep(next);
    if ("error" in atCut) {
      const unreadable = refusal("unreadable", atCut.error, "what the death left cannot be read:");
      return { id: this.#id, violations: [unreadable] };
    }
    this.#lives.push({ told, left: this.#context.subject.account?.(atCut.view) });
    this.#expectation = await this.#expect(cut, atCut.view, reached);
    return next;
  }

  /** Where the subject's tables say nothing of a cut, the other judges still look at it. */
  async #expect(cut: Cut, atCut: View, reached: View): Promise<RecoveryExpectation | undefined> {
    const expectation = await expectationOf(this.#context, cut, async () => atCut, reached);
    return typeof expectation === "string" ? undefined : expectation;
  }

  /** Opened again with nothing left to do, it stays as it is (design §3.7). */
  async #reopen(last: Standing, view: View): Promise<Finding> {
    const again = { ...last, cuts: [...last.cuts, REOPENING], judge: last.judge.fork() };
    const { end, boundaryCount } = await live(this.#context, again, this.#case.schedule);
    if (end.kind !== "settled") return findingOf(end);
    if (boundaryCount === 0 && isExactlySame(end.view, view)) return FINE;
    const message = `opened again after its end, it crossed ${boundaryCount} boundaries and ${
      isExactlySame(end.view, view) ? "left the same" : "left something else"
    }`;
    return { violations: [violationsOf("reopening")("reopening-acts", message)] };
  }

  #ended(judgement: Judgement, standing: Standing, { end }: Lived): CaseRun {
    return {
      judgement: { ...judgement, id: this.#id },
      digest: undefined,
      faultCount: this.#lives.length,
      events: [...standing.events, ...end.events],
    };
  }

  #keep(standing: Standing): Standing {
    if (!this.#standings.includes(standing)) this.#standings.push(standing);
    return standing;
  }
}

/** Stands in for a death where a session is opened after a clean end. */
const REOPENING: Cut = {
  boundary: { kind: "commit", label: "reopening", occurrence: 1 },
  position: "after",
};

function isDecided({ violations, inconclusive }: Finding): boolean {
  return violations.length > 0 || inconclusive !== undefined;
}
