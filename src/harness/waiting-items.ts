/**
 * What waits for its place, as watchers see it (spec §5.4): the contents of `pending.entry`, followed commit by commit, and
 * the queues of a lane that name them. What an abort drained is in no queue, though its content is kept to the end.
 */
import type { AgentMessage, PendingEntry } from "../model/index.ts";
import type { QueuedItem } from "./event-types.ts";
import type { LaneTrack } from "./lane-track.ts";

/** The queues of a lane, each item with its message. */
export interface LaneQueues {
  readonly steer: QueuedItem[];
  readonly followUp: QueuedItem[];
  readonly nextRun: QueuedItem[];
}

/** See the module header. */
export class WaitingItems {
  readonly #contents = new Map<string, PendingEntry>();

  get(id: string): PendingEntry | undefined {
    return this.#contents.get(id);
  }

  set(id: string, content: PendingEntry): void {
    this.#contents.set(id, content);
  }

  delete(id: string): void {
    this.#contents.delete(id);
  }

  /** The queues of a lane as they are now. */
  queuesOf({ state, pendingNextRun }: LaneTrack): LaneQueues {
    const inbox = state?.kind === "run" ? state.inbox : undefined;
    return {
      steer: this.#items(inbox?.steer ?? []),
      followUp: this.#items(inbox?.followUp ?? []),
      nextRun: this.#items(pendingNextRun),
    };
  }

  /** The messages under these ids. */
  messages(ids: readonly string[]): AgentMessage[] {
    return this.#items(ids).map(({ message }) => message);
  }

  #items(ids: readonly string[]): QueuedItem[] {
    return ids.flatMap((entryId) => {
      const content = this.#contents.get(entryId);
      return content?.type === "message" ? [{ entryId, message: content.payload }] : [];
    });
  }
}

/** Whether the same items wait in the same queues. */
export function sameQueues(one: LaneQueues, other: LaneQueues): boolean {
  const ids = ({ steer, followUp, nextRun }: LaneQueues) =>
    [steer, followUp, nextRun].map((items) => items.map(({ entryId }) => entryId).join(" ")).join("|");
  return ids(one) === ids(other);
}
