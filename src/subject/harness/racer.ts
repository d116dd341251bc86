/**
 * Who calls while something is going on: makes the scheduled calls of a race, and those of an explorer, and says in the
 * timeline when each was made and how it was answered.
 *
 * Invariants.
 * 1. A call is made at once: nothing is awaited between its moment and its place on the line that it stands in. Only what
 *    must be looked up first (the id of what is taken back, the target of a navigation) comes before it.
 * 2. A call that begins work, or may wait for work, is not waited for at its moment: it would wait for actions that
 *    nobody executes. Every other call is answered before the drive goes on.
 * 3. A call whose effect was durable when the life began is not made in it.
 */
import {
  nameOf,
  type RaceCall,
  type RaceMoment,
  type ScheduledCall,
  type Timeline,
} from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";
import { type AgentHarness, HarnessClosed } from "../../harness/index.ts";
import { forkContents, MAIN_LANE, type Session } from "../../session/index.ts";
import type { SessionDump } from "../../storage/index.ts";
import { endFromOutside } from "./outside-end.ts";
import { SCRIPTED_MODEL, usageOf } from "./scripted-models.ts";

/** What a racer calls, and what it asks the application. */
export interface RacerParts {
  readonly harness: AgentHarness;
  readonly session: Session;
  readonly timeline: Timeline;
  readonly nowMs: () => number;
  /** Everything durable, read beside the life. */
  readonly dump: () => SessionDump;
  /** The id under which a text is durable, placed or queued. */
  readonly idOf: (text: string) => Promise<string | undefined>;
  /** The id of the message that says a text. */
  readonly targetOf: (text: string | null) => Promise<string | null>;
}

/** See the module header. One racer serves one life. */
export class Racer {
  readonly #parts: RacerParts;
  /** Scheduled, and not made in this life. */
  readonly #ahead: ScheduledCall[];
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;
  /** What a call failed with that nobody waited for. */
  #failure: { readonly error: unknown } | undefined;

  /** @param ahead the calls of the schedule whose effect is not durable. */
  constructor(parts: RacerParts, ahead: readonly ScheduledCall[]) {
    this.#parts = parts;
    this.#ahead = [...ahead];
  }

  /** Whether a call has closed the harness. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether calls are under way that nobody has answered. */
  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  /** Makes the calls of a moment; answers whether there were any. */
  async at(moment: RaceMoment): Promise<boolean> {
    const due = this.#due(moment);
    for (const scheduled of due) {
      const answered = this.start(scheduled.call, nameOf(scheduled));
      if (!mayWait(scheduled.call)) await answered;
    }
    return due.length > 0;
  }

  /** Makes the calls of a moment and waits for none of them. */
  beside(moment: RaceMoment): void {
    for (const scheduled of this.#due(moment)) void this.start(scheduled.call, nameOf(scheduled));
  }

  /** Makes a call; resolves to how it was answered, in a word. Rejects only for a defect. */
  start(call: RaceCall, name: string): Promise<string> {
    return this.answered(name, () => this.#make(call));
  }

  /** Notes a call and its answer. */
  answered(name: string, make: () => Promise<string>): Promise<string> {
    const { timeline } = this.#parts;
    timeline.push({ kind: "call", name });
    const answer = make()
      .catch((error: unknown) => {
        if (error instanceof HarnessClosed) return "HarnessClosed";
        throw error;
      })
      .then((text) => {
        timeline.push({ kind: "answer", name, text });
        return text;
      });
    this.#open.add(answer);
    const done = () => void this.#open.delete(answer);
    answer.then(done, (error: unknown) => {
      done();
      this.#failure ??= { error };
    });
    return answer;
  }

  /** Resolves when every call is answered; rejects with what one of them failed with. */
  async answeredAll(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #due(moment: RaceMoment): readonly ScheduledCall[] {
    const due = this.#ahead.filter(({ at }) => isSame(at, moment));
    for (const scheduled of due) this.#ahead.splice(this.#ahead.indexOf(scheduled), 1);
    return due;
  }

  async #make(call: RaceCall): Promise<string> {
    const { harness, session, nowMs, dump, idOf, targetOf } = this.#parts;
    switch (call.call) {
      case "prompt":
        return wordOf(await harness.prompt(call.text));
      case "resume":
        return wordOf(await harness.resume());
      case "compact":
        return wordOf(await harness.compact());
      case "navigateTree": {
        const { summarize = false, label } = call;
        const options = { summarize, ...(label === undefined ? {} : { label }) };
        return wordOf(await harness.navigateTree(await targetOf(call.to), options));
      }
      case "abort":
        return wordOf(await harness.abort(), "cancelled");
      case "steer":
        return wordOf(await harness.steer(call.text), "queued");
      case "followUp":
        return wordOf(await harness.followUp(call.text), "queued");
      case "nextRun":
        return wordOf(await harness.nextRun(call.text), "queued");
      case "cancelQueued":
        return wordOf(await harness.cancelQueued((await idOf(call.text)) ?? call.text));
      case "appendMessage":
        await session.appendMessage({ role: "user", content: call.text, timestamp: nowMs() });
        return "appended";
      case "appendCustom":
        await session.appendCustomEntry("note", call.text);
        return "appended";
      case "createLane":
        return wordOf(await harness.createLane(call.lane, null), "created");
      case "recordUsage":
        return wordOf(await harness.recordUsage(usageOf(call.usage)), "recorded");
      case "setName":
        return set(session.setName(call.name));
      case "setThinkingLevel":
        return set(harness.setThinkingLevel(call.level));
      case "setModel":
        return set(harness.setModel({ ...SCRIPTED_MODEL, id: call.model }));
      case "setActiveTools":
        return set(harness.setActiveTools(call.names));
      case "setRetryPolicy": {
        const { maxRetries } = call;
        return set(harness.setRetryPolicy({ enabled: maxRetries > 0, maxRetries, baseDelayMs: 1000 }));
      }
      case "setStreamOptions":
        return set(harness.setStreamOptions({ timeoutMs: call.timeoutMs }));
      case "close":
        this.#isClosed = true;
        await harness.close();
        return "closed";
      case "endOutside": {
        const lane = await harness.lane(MAIN_LANE);
        return (await lane?.onLine(() => endFromOutside(session))) === true ? "ended" : "nothing open";
      }
      case "fork": {
        const { entries } = forkContents(dump(), {});
        return `${entries.length} entries`;
      }
      default:
        return absurd(call, "call");
    }
  }
}

/** Whether a call may be answered only after actions that it does not execute itself. */
function mayWait({ call }: RaceCall): boolean {
  return ["prompt", "resume", "compact", "navigateTree", "appendMessage", "appendCustom"].includes(call);
}

async function set(done: Promise<void>): Promise<string> {
  await done;
  return "set";
}

/** An answer in a word: the tag of a refusal, the kind of an outcome, or `otherwise`. */
export function wordOf(
  result: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown },
  otherwise = "answered",
): string {
  const found = result.ok ? result.value : result.error;
  const key = result.ok ? "kind" : "_tag";
  const word =
    typeof found === "object" && found !== null ? (found as Record<string, unknown>)[key] : undefined;
  return typeof word === "string" ? word : otherwise;
}

function isSame(one: RaceMoment, other: RaceMoment): boolean {
  const [[kind, name] = []] = Object.entries(one);
  const [[otherKind, otherName] = []] = Object.entries(other);
  return kind === otherKind && name === otherName;
}
