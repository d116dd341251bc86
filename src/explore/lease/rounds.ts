/**
 * Rounds of real processes that want one session. What must hold of a store that promises one writer:
 *
 * 1. *resume*: of n processes that open a session at once which a dead owner left, exactly one gets it, and ends what was
 *    under way; the others wait, and find nothing left to do when it has let go.
 * 2. *stopped*: an owner that is stopped (SIGSTOP) before a commit until its claim has run out loses the session to the
 *    process that comes next. When it goes on (SIGCONT), while that one holds the session or after it let go, it changes
 *    nothing, is told, and does nothing more outside.
 * 3. *race*: a commit and a takeover at the same moment. The commit is made before the takeover or not at all, and the
 *    owner changes nothing after it.
 *
 * What is reached is in each case what a recovery must reach from there. Which of two processes is first is the system's to
 * say, so a round that is made again may end in the other of its right ends.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readLedger } from "../../faults/index.ts";
import { VIRTUAL_EPOCH_MS } from "../../foundation/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import {
  type Contender,
  type ContenderCommand,
  type ContenderState,
  copyFolder,
  diskFolderOf,
  ledgerPathOf,
} from "../../subprocess/index.ts";
import { violationsOf } from "../checks.ts";
import { recoveryOf } from "../crash/recovery.ts";
import { doubt, FINE, type Finding, refusal, together } from "../judgement.ts";
import type { RunContext } from "../standing.ts";
import type { Stand } from "./stands.ts";

/** A process that wants a session, as rounds use it. */
export type Opener = Pick<Contender, "tell" | "stop" | "goOn">;

/** What rounds are made with. */
export interface Ring {
  readonly context: RunContext;
  /** Where sessions are; one folder a round. */
  readonly folder: string;
  /** Processes that run already. */
  readonly contenders: readonly Opener[];
}

/** When a stopped owner goes on. */
export type Wake = "held" | "released";

/** A session that an owner left who was killed at a stand. */
export interface Left {
  readonly stand: Stand;
  readonly folder: string;
  /** Where the owner stood when it was killed. */
  readonly owner: ContenderState;
}

/** Leaves a session at a stand by a real death of `owner`. */
export async function leaveBehind(ring: Ring, owner: Contender, stand: Stand, name: string): Promise<Left> {
  const folder = join(ring.folder, name);
  const state = await ownerAt(ring, owner, stand, folder);
  await owner.close();
  return { stand, folder, owner: state };
}

/** All contenders open what was left, at once. */
export async function resumeRound(ring: Ring, left: Left, name: string): Promise<Finding> {
  const { stand } = left;
  if (left.owner.at !== "parked") return doubtOf("no owner died at its commit", [left.owner]);
  return inFolder(ring, name, left.folder, async (folder) => {
    const { contenders } = ring;
    const taken = await Promise.all(contenders.map((one) => told(ring, one, taking(ring, folder, stand, 1))));
    if (taken.some(({ at }) => at !== "ready"))
      return doubtOf("a process could not take the session up", taken);
    const states = await Promise.all(contenders.map((one) => told(ring, one, { say: "boot" })));
    // Who is gone, or does not answer, has not been kept out.
    if (states.some(isLost)) return doubtOf("a process was lost", states);
    const winners = contenders.filter((_, index) => isIn(states[index]));
    const [winner, second] = winners;
    if (winner === undefined)
      return broken("no winner", `nobody got the session: ${states.map(wordOf).join(", ")}`);
    if (second !== undefined) {
      return broken("several winners", `${winners.length} of ${contenders.length} processes got the session`);
    }
    const ends = [await told(ring, winner, { say: "finish" })];
    for (const [index, one] of contenders.entries()) {
      if (states[index]?.at !== "waiting") continue;
      const woken = await told(ring, one, { say: "wake" });
      ends.push(woken.at === "parked" ? woken : await told(ring, one, { say: "finish" }));
    }
    const wrong = ends.find(({ at }) => at !== "done");
    const told_ = wrong === undefined ? [] : [broken("not ended", `a process did not end: ${wordOf(wrong)}`)];
    return together(await reached(ring, folder, stand, [stand.before]), ...told_);
  });
}

/** The owner stops before a commit until its claim has run out, and goes on late. */
export async function stoppedRound(ring: Ring, stand: Stand, wake: Wake, name: string): Promise<Finding> {
  return inFolder(ring, name, undefined, async (folder) => {
    const [owner, next] = pairOf(ring);
    const standing = await ownerAt(ring, owner, stand, folder);
    if (standing.at !== "parked") return doubtOf("the owner did not come to its commit", [standing]);
    if (!(await owner.stop())) {
      owner.goOn();
      return doubt("not-stopped", "the system did not say that the owner stands still");
    }
    try {
      await told(ring, next, taking(ring, folder, stand, 1));
      const state = await told(ring, next, { say: "boot" });
      if (isLost(state)) return doubtOf("the next process was lost", [state]);
      if (!isIn(state)) {
        return broken(
          "no takeover",
          `a session whose claim had run out was not taken over: ${wordOf(state)}`,
        );
      }
      const findings: Finding[] = [];
      const finish = async () => {
        const end = await told(ring, next, { say: "finish" });
        if (end.at !== "done")
          findings.push(broken("not ended", `the new owner did not end: ${wordOf(end)}`));
      };
      if (wake === "released") await finish();
      findings.push(await wakeUp(ring, owner, folder, stand, wake));
      if (wake === "held") await finish();
      return together(await reached(ring, folder, stand, [stand.before]), ...findings);
    } finally {
      owner.goOn();
    }
  });
}

async function wakeUp(ring: Ring, owner: Opener, folder: string, stand: Stand, wake: Wake): Promise<Finding> {
  const before = await seen(ring, folder, stand);
  owner.goOn();
  const end = await told(ring, owner, { say: "finish" });
  const after = await seen(ring, folder, stand);
  const when = `an owner that went on after another process had taken the session over${wake === "held" ? " and held it" : " and let go of it"}`;
  const findings: Finding[] = [];
  if (after.exact !== before.exact) {
    findings.push(broken("stale-commit-accepted", `${when} changed what is durable`));
  }
  if (isLost(end)) findings.push(doubtOf("the owner was lost", [end]));
  else if (end.at !== "refused") findings.push(broken("stale-owner-not-told", `${when} was not refused`));
  if (after.rowCount > before.rowCount) {
    findings.push(broken("stale-owner-acted", `${when} started a new effect`));
  }
  return together(FINE, ...findings);
}

/** A commit and a takeover at the same moment. */
export async function raceRound(ring: Ring, stand: Stand, name: string): Promise<Finding> {
  return inFolder(ring, name, undefined, async (folder) => {
    const [owner, next] = pairOf(ring);
    const standing = await ownerAt(ring, owner, stand, folder);
    if (standing.at !== "parked") return doubtOf("the owner did not come to its commit", [standing]);
    await told(ring, next, taking(ring, folder, stand, 1));
    const [crossed, state] = await Promise.all([
      told(ring, owner, { say: "cross" }),
      told(ring, next, { say: "boot" }),
    ]);
    if (isLost(crossed) || isLost(state)) return doubtOf("a process was lost", [crossed, state]);
    if (!isIn(state)) return broken("no takeover", `the session was not taken over: ${wordOf(state)}`);
    const end = await told(ring, next, { say: "finish" });
    const findings: Finding[] = [];
    if (end.at !== "done") findings.push(broken("not ended", `the new owner did not end: ${wordOf(end)}`));
    // It is told by the refusal of its next commit, or reads that its work has been ended; it changes nothing either way.
    if (crossed.at === "parked") {
      const before = await seen(ring, folder, stand);
      const late = await told(ring, owner, { say: "finish" });
      if ((await seen(ring, folder, stand)).exact !== before.exact) {
        findings.push(broken("stale-commit-accepted", "an owner that lost the race changed what is durable"));
      }
      if (isLost(late)) findings.push(doubtOf("the owner was lost", [late]));
    }
    const right = crossed.at === "refused" ? [stand.before, stand.after] : [stand.after];
    return together(await reached(ring, folder, stand, right), ...findings);
  });
}

/** What becomes of a second opener where no store promises anything. */
export async function secondOpenerRound(ring: Ring, left: Left, name: string): Promise<Finding> {
  const { stand } = left;
  if (left.owner.at !== "parked") return doubtOf("no owner died at its commit", [left.owner]);
  return inFolder(ring, name, left.folder, async (folder) => {
    const pair = pairOf(ring);
    const states: ContenderState[] = [];
    for (const one of pair) {
      await told(ring, one, taking(ring, folder, stand, 1));
      states.push(await told(ring, one, { say: "boot" }));
    }
    if (!isIn(states[0]))
      return broken("no winner", `nobody got the session: ${states.map(wordOf).join(", ")}`);
    const [first, second] = pair;
    const end = await told(ring, first, { say: "finish" });
    if (end.at !== "done") return broken("not ended", `the first opener did not end: ${wordOf(end)}`);
    if (states.some(isLost)) return doubtOf("the second opener was lost", states);
    if (!isIn(states[1])) return reached(ring, folder, stand, [stand.before]);
    const later = await told(ring, second, { say: "finish" });
    if (isLost(later)) return doubtOf("the second opener was lost", [later]);
    if (later.at !== "refused") {
      const message =
        "its specification has no lease: two processes wrote to one session, and neither was told";
      return { violations: [], limit: { signature: "second opener is not told", message } };
    }
    const message =
      "its specification has no lease: a second process is let in, and told at its first commit that another one wrote";
    const limit = { signature: "second opener is let in", message };
    return { ...together(await reached(ring, folder, stand, [stand.before])), limit };
  });
}

/** A fresh session whose owner stands before a commit. */
async function ownerAt(ring: Ring, owner: Opener, stand: Stand, folder: string): Promise<ContenderState> {
  const taken = await told(ring, owner, taking(ring, folder, stand, 0));
  if (taken.at !== "ready") return taken;
  await told(ring, owner, { say: "boot" });
  return told(ring, owner, { say: "walk", commitIndex: stand.commitIndex });
}

function taking(
  { context: { subject, scenario, seed } }: Ring,
  folder: string,
  { nextMs }: Stand,
  incarnation: number,
): ContenderCommand {
  const nowMs = incarnation === 0 ? VIRTUAL_EPOCH_MS : nextMs;
  return { say: "take", subject: subject.id, scenario, seed, folder, incarnation, nowMs };
}

/** Tells a contender something; one that does not answer is refused as stalled. */
async function told({ context }: Ring, one: Opener, command: ContenderCommand): Promise<ContenderState> {
  const answer = await context.watchdog.guard(() => 0, one.tell(command));
  const message = `the process did not answer to ${command.say}`;
  return answer === "stalled" ? { at: "refused", name: "Stalled", message } : answer;
}

/** What is durable at the end must be one of those. */
async function reached(
  ring: Ring,
  folder: string,
  { downtimes }: Stand,
  right: readonly (RecoveryExpectation | string)[],
): Promise<Finding> {
  let view: View;
  try {
    view = await viewOf(ring, folder, downtimes);
  } catch (error) {
    return { violations: [refusal("unreadable", error, "what the processes left cannot be read:")] };
  }
  const findings = right.map((expected) => recoveryOf(expected, view));
  return findings.find(({ violations }) => violations.length === 0) ?? findings[0] ?? FINE;
}

async function viewOf(
  { context: { subject } }: Ring,
  folder: string,
  downtimes: Stand["downtimes"],
): Promise<View> {
  const disk = subject.attach(diskFolderOf(folder));
  if (disk === undefined) throw new Error(`${subject.id} finds no disk where a process had one`);
  return subject.view(disk, { downtimes });
}

async function seen(ring: Ring, folder: string, { downtimes }: Stand) {
  const exact = await viewOf(ring, folder, downtimes).then(
    (view) => view.exact,
    (error: unknown) => `unreadable: ${error}`,
  );
  return { exact, rowCount: readLedger(ledgerPathOf(folder)).length };
}

/** A round in a folder of its own: a copy of another one, or a new one. */
async function inFolder(
  ring: Ring,
  name: string,
  from: string | undefined,
  round: (folder: string) => Promise<Finding>,
): Promise<Finding> {
  const folder = join(ring.folder, name);
  if (from === undefined) mkdirSync(folder, { recursive: true });
  else copyFolder(from, folder);
  try {
    return await round(folder);
  } finally {
    for (const one of ring.contenders) await told(ring, one, { say: "drop" });
    rmSync(folder, { recursive: true, force: true });
  }
}

function pairOf({ contenders }: Ring): readonly [Opener, Opener] {
  const [one, other] = contenders;
  if (one === undefined || other === undefined) throw new RangeError("a round needs two processes at least");
  return [one, other];
}

/** Whether it has the session. */
function isIn(state: ContenderState | undefined): boolean {
  return state?.at === "parked" || state?.at === "done";
}

/** Whether the process itself came to nothing. */
function isLost(state: ContenderState): boolean {
  return state.at === "refused" && (state.name === "ProcessGone" || state.name === "Stalled");
}

function wordOf(state: ContenderState): string {
  if (state.at === "refused") return `refused by ${state.name}: ${state.message}`;
  return state.at === "parked" ? `before ${state.boundary}` : state.at;
}

function broken(signature: string, message: string): Finding {
  return { violations: [violationsOf("single-writer")(signature, message)] };
}

function doubtOf(message: string, states: readonly ContenderState[]): Finding {
  return doubt("not-reached", `${message}: ${states.map(wordOf).join(", ")}`);
}
