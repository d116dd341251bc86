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
import { join } from "node:path";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import type { Contender, ContenderState } from "../../subprocess/index.ts";
import { violationsOf } from "../checks.ts";
import { recoveryOf } from "../crash/recovery.ts";
import { doubt, FINE, type Finding, refusal, together } from "../judgement.ts";
import { brokenByWaking, type Wake } from "../stale-owner.ts";
import { isIn, isLost, type Opener, overSession, pairOf, type Ring, Session, wordOf } from "./ring.ts";
import type { Stand } from "./stands.ts";

/** A session that an owner left who was killed at a stand. */
export interface Left {
  readonly stand: Stand;
  readonly folder: string;
  /** Where the owner stood when it was killed. */
  readonly owner: ContenderState;
}

/** Leaves a session at a stand by a real death of `owner`. */
export async function leaveBehind(ring: Ring, owner: Contender, stand: Stand, name: string): Promise<Left> {
  const session = new Session(ring.context, stand, join(ring.folder, name));
  const state = await session.ownedBy(owner);
  await owner.close();
  return { stand, folder: session.folder, owner: state };
}

/** All contenders open what was left, at once. */
export async function resumeRound(ring: Ring, left: Left, name: string): Promise<Finding> {
  const { stand, folder: from } = left;
  if (left.owner.at !== "parked") return doubtOf("no owner died at its commit", [left.owner]);
  return overSession(ring, stand, { name, from }, async (session) => {
    const { contenders } = ring;
    const taken = await Promise.all(contenders.map((one) => session.take(one)));
    if (taken.some(({ at }) => at !== "ready"))
      return doubtOf("a process could not take the session up", taken);
    const states = await Promise.all(contenders.map((one) => session.ask(one, { say: "boot" })));
    // Who is gone, or does not answer, has not been kept out.
    if (states.some(isLost)) return doubtOf("a process was lost", states);
    const winners = contenders.filter((_, index) => isIn(states[index]));
    const [winner, second] = winners;
    if (winner === undefined) return noWinner(states);
    if (second !== undefined) {
      return broken("several winners", `${winners.length} of ${contenders.length} processes got the session`);
    }
    const ends = [await session.ask(winner, { say: "finish" })];
    for (const [index, one] of contenders.entries()) {
      if (states[index]?.at !== "waiting") continue;
      const woken = await session.ask(one, { say: "wake" });
      ends.push(woken.at === "parked" ? woken : await session.ask(one, { say: "finish" }));
    }
    const wrong = ends.find(({ at }) => at !== "done");
    const ended = wrong === undefined ? FINE : notEnded("a process", wrong);
    return together(await reached(session, [stand.before]), ended);
  });
}

/** The owner stops before a commit until its claim has run out, and goes on late. */
export async function stoppedRound(ring: Ring, stand: Stand, wake: Wake, name: string): Promise<Finding> {
  return overSession(ring, stand, { name }, async (session) => {
    const [owner, next] = pairOf(ring);
    const standing = await session.ownedBy(owner);
    if (standing.at !== "parked") return doubtOf("the owner did not come to its commit", [standing]);
    if (!(await owner.stop())) {
      owner.goOn();
      return doubt("not-stopped", "the system did not say that the owner stands still");
    }
    try {
      await session.take(next);
      const state = await session.ask(next, { say: "boot" });
      if (isLost(state)) return doubtOf("the next process was lost", [state]);
      if (!isIn(state)) {
        return broken(
          "no takeover",
          `a session whose claim had run out was not taken over: ${wordOf(state)}`,
        );
      }
      const finish = async () => notEnded("the new owner", await session.ask(next, { say: "finish" }));
      const released = wake === "released" ? await finish() : FINE;
      const woken = await wakeUp(session, owner, wake);
      const held = wake === "held" ? await finish() : FINE;
      return together(await reached(session, [stand.before]), released, woken, held);
    } finally {
      owner.goOn();
    }
  });
}

async function wakeUp(session: Session, owner: Opener, wake: Wake): Promise<Finding> {
  const before = await session.seen();
  owner.goOn();
  const end = await session.ask(owner, { say: "finish" });
  const after = await session.seen();
  const violations = brokenByWaking("an owner that went on", wake, {
    isChanged: after.exact !== before.exact,
    end: isLost(end) ? "unknown" : end.at === "refused" ? "was told" : "went on",
    isOutside: after.rowCount > before.rowCount,
  });
  return together({ violations }, isLost(end) ? doubtOf("the owner was lost", [end]) : FINE);
}

/** A commit and a takeover at the same moment. */
export async function raceRound(ring: Ring, stand: Stand, name: string): Promise<Finding> {
  return overSession(ring, stand, { name }, async (session) => {
    const [owner, next] = pairOf(ring);
    const standing = await session.ownedBy(owner);
    if (standing.at !== "parked") return doubtOf("the owner did not come to its commit", [standing]);
    await session.take(next);
    const [crossed, state] = await Promise.all([
      session.ask(owner, { say: "cross" }),
      session.ask(next, { say: "boot" }),
    ]);
    if (isLost(crossed) || isLost(state)) return doubtOf("a process was lost", [crossed, state]);
    if (!isIn(state)) return broken("no takeover", `the session was not taken over: ${wordOf(state)}`);
    const ended = notEnded("the new owner", await session.ask(next, { say: "finish" }));
    const late = crossed.at === "parked" ? await loserOf(session, owner) : FINE;
    const right = crossed.at === "refused" ? [stand.before, stand.after] : [stand.after];
    return together(await reached(session, right), ended, late);
  });
}

/** It is told by the refusal of its next commit, or reads that its work has been ended; it changes nothing either way. */
async function loserOf(session: Session, owner: Opener): Promise<Finding> {
  const before = await session.seen();
  const end = await session.ask(owner, { say: "finish" });
  const isChanged = (await session.seen()).exact !== before.exact;
  return together(
    isChanged ? broken("stale-commit-accepted", "an owner that lost the race changed what is durable") : FINE,
    isLost(end) ? doubtOf("the owner was lost", [end]) : FINE,
  );
}

/** What becomes of a second opener where no store promises anything. */
export async function secondOpenerRound(ring: Ring, left: Left, name: string): Promise<Finding> {
  const { stand, folder: from } = left;
  if (left.owner.at !== "parked") return doubtOf("no owner died at its commit", [left.owner]);
  return overSession(ring, stand, { name, from }, async (session) => {
    const open = async (one: Opener) => {
      await session.take(one);
      return session.ask(one, { say: "boot" });
    };
    const [first, second] = pairOf(ring);
    const states = [await open(first), await open(second)] as const;
    if (!isIn(states[0])) return noWinner(states);
    const end = await session.ask(first, { say: "finish" });
    if (end.at !== "done") return notEnded("the first opener", end);
    // Who is gone has not been kept out.
    if (isLost(states[1])) return doubtOf("the second opener was lost", states);
    if (!isIn(states[1])) return reached(session, [stand.before]);
    const later = await session.ask(second, { say: "finish" });
    if (isLost(later)) return doubtOf("the second opener was lost", [later]);
    if (later.at !== "refused") {
      const message =
        "its specification has no lease: two processes wrote to one session, and neither was told";
      return { ...FINE, limit: { signature: "second opener is not told", message } };
    }
    const message =
      "its specification has no lease: a second process is let in, and told at its first commit that another one wrote";
    const limit = { signature: "second opener is let in", message };
    return { ...(await reached(session, [stand.before])), limit };
  });
}

/** What is durable at the end must be one of those. */
async function reached(session: Session, right: readonly (RecoveryExpectation | string)[]): Promise<Finding> {
  let view: View;
  try {
    view = await session.view();
  } catch (error) {
    return { violations: [refusal("unreadable", error, "what the processes left cannot be read:")] };
  }
  const findings = right.map((expected) => recoveryOf(expected, view));
  return findings.find(({ violations }) => violations.length === 0) ?? findings[0] ?? FINE;
}

/** Whoever holds the session must come to its end; what is found if it did not. */
function notEnded(who: string, end: ContenderState): Finding {
  return end.at === "done" ? FINE : broken("not ended", `${who} did not end: ${wordOf(end)}`);
}

function noWinner(states: readonly ContenderState[]): Finding {
  return broken("no winner", `nobody got the session: ${states.map(wordOf).join(", ")}`);
}

function broken(signature: string, message: string): Finding {
  return { violations: [violationsOf("single-writer")(signature, message)] };
}

function doubtOf(message: string, states: readonly ContenderState[]): Finding {
  return doubt("not-reached", `${message}: ${states.map(wordOf).join(", ")}`);
}
