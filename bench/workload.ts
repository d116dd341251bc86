/** The commits that are measured: four writes of a typical turn, and long branches of them. */
import { createIdGenerator, type IdGenerator, seededRandom, VirtualClock } from "../src/foundation/index.ts";
import { type Transaction, type Usage, zeroUsage } from "../src/model/index.ts";
import type { SessionMetadata, Storage } from "../src/storage/index.ts";

/** The session that is measured. */
export const METADATA: SessionMetadata = { id: "bench", createdAt: 1_700_000_000_000, storageVersion: 1 };

/** A store with so many entries on one branch, and the writer that goes on with it. */
export async function grown<S extends Storage>(
  store: S,
  entries: number,
): Promise<{ store: S; writer: TurnWriter }> {
  const writer = new TurnWriter(1);
  for (let count = 0; count < entries; count++) await store.commit(writer.next());
  return { store, writer };
}

/** Makes transactions that follow each other on one branch. */
export class TurnWriter {
  readonly #ids: IdGenerator;
  #leaf: string | null = null;
  #turn = 0;

  constructor(seed: number) {
    this.#ids = createIdGenerator(new VirtualClock(), seededRandom(seed, "bench"));
  }

  /** Settlement of a turn: an entry, the leaf, a usage row, the next state: four writes. */
  next(): Transaction {
    const id = this.#ids.next();
    const parentId = this.#leaf;
    this.#leaf = id;
    this.#turn++;
    return {
      writes: [
        {
          kind: "entry",
          entry: {
            id,
            parentId,
            type: "message",
            message: {
              role: "assistant",
              content: [
                {
                  type: "text",
                  text: `The answer of turn ${this.#turn}, about as long as answers are. `.repeat(6),
                },
              ],
              api: "bench",
              provider: "bench",
              model: "bench-1",
              usage: USAGE,
              stopReason: "stop",
              timestamp: 1_700_000_000_000 + this.#turn,
            },
          },
        },
        { kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: id },
        { kind: "usage", row: { id: this.#ids.next(), usage: USAGE, entryId: id, adjustment: false } },
        {
          kind: "register",
          op: "set",
          namespace: "lane.state",
          key: "main",
          value: { currentOperationId: id, pendingNextRun: [] },
        },
      ],
    };
  }

  /** The newest entry. */
  get leaf(): string {
    if (this.#leaf === null) throw new Error("nothing was written yet");
    return this.#leaf;
  }

  many(count: number): Transaction[] {
    return Array.from({ length: count }, () => this.next());
  }
}

const USAGE: Usage = { ...zeroUsage(), input: 1200, output: 180, totalTokens: 1380 };
