/**
 * The writes of session trees while a harness drives the session (spec §3.11, §4.3): appends stand on the mutation line
 * of their lane, so that none falls between a read of the leaf and the commit that moves it, and every commit passes
 * the barrier of the harness.
 *
 * What the application wrote wrongly is refused before the barrier and is no fault of the harness. On a lane whose run
 * is open, however it stands, an append waits in the run's inbox. A structural operation owns the leaf and has no inbox,
 * so an append beside it waits for its end, not durably, and is judged again then.
 */
import type { PendingEntry, Write } from "../model/index.ts";
import { isRun } from "../operation/index.ts";
import { appendWrites, leafOf, type TreeWriter, UnknownLane } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import type { HarnessLane } from "./lane.ts";
import { commitOutside } from "./outside-commit.ts";
import { openOperation, queueItem } from "./queues.ts";

/** See the module header. */
export class HarnessTreeWriter implements TreeWriter {
  readonly #environment: Environment;
  readonly #lane: (name: string) => HarnessLane | undefined;

  constructor(environment: Environment, lane: (name: string) => HarnessLane | undefined) {
    this.#environment = environment;
    this.#lane = lane;
  }

  async setFact(make: () => Promise<Write>): Promise<void> {
    const write = await this.#environment.lifecycle.reading(make);
    await commitOutside(this.#environment, { writes: [write] });
  }

  async append(lane: string, content: PendingEntry): Promise<string> {
    const found = this.#lane(lane);
    if (found === undefined) throw new UnknownLane(lane);
    for (;;) {
      const { lifecycle } = this.#environment;
      const id = await found.onUnreservedLine(() =>
        lifecycle.reading(() => append(this.#environment, lane, content)),
      );
      if (id !== undefined) return id;
      await found.waitForIdle();
    }
  }
}

/** Runs on the mutation line of the lane. Undefined: a structural operation has it. @throws HarnessClosed; HarnessFault */
async function append(
  environment: Environment,
  lane: string,
  content: PendingEntry,
): Promise<string | undefined> {
  const current = await openOperation(environment, lane);
  if (current === undefined) return appendIdle(environment, lane, content);
  if (!isRun(current)) return undefined;
  return queueItem(environment, current, "writes", content);
}

async function appendIdle(environment: Environment, lane: string, content: PendingEntry): Promise<string> {
  const { session } = environment;
  const leafId = await leafOf(session, lane);
  const id = session.idGenerator.next();
  await commitOutside(environment, { writes: appendWrites(lane, leafId, id, content) });
  return id;
}
