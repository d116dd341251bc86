/**
 * A trial: one repository, the sessions that a clause opened in it, and what it shows of them.
 */
import { idsOfIncarnation, VirtualClock } from "../../src/foundation/index.ts";
import {
  type Entry,
  REGISTER_NAMESPACES,
  type Register,
  type UsageRow,
  type Write,
} from "../../src/model/index.ts";
import type {
  ForkOptions,
  ForkTarget,
  NewSession,
  Session,
  SessionRepository,
} from "../../src/session/index.ts";
import type { SessionMetadata, SessionStats } from "../../src/storage/index.ts";
import type { RepositoryFactory, RepositoryHandle } from "./factory.ts";

/** Everything that a session shows. */
export interface SessionView {
  readonly entries: readonly Entry[];
  readonly registers: readonly Register[];
  readonly usage: readonly UsageRow[];
  readonly stats: SessionStats;
}

/** See the module header. */
export class RepositoryTrial {
  readonly clock: VirtualClock;
  readonly handle: RepositoryHandle;
  readonly #opened: Session[] = [];

  private constructor(clock: VirtualClock, handle: RepositoryHandle) {
    this.clock = clock;
    this.handle = handle;
  }

  static async begin(factory: RepositoryFactory): Promise<RepositoryTrial> {
    const clock = new VirtualClock();
    const handle = await factory.create({ clock, idGenerator: idsOfIncarnation(7, 0, clock) });
    return new RepositoryTrial(clock, handle);
  }

  get repository(): SessionRepository {
    return this.handle.repository;
  }

  async create(options?: NewSession): Promise<Session> {
    return this.keep(await this.repository.create(options));
  }

  async open(metadata: SessionMetadata): Promise<Session> {
    return this.keep(await this.repository.open(metadata));
  }

  async fork(source: SessionMetadata, options?: ForkOptions & ForkTarget): Promise<Session> {
    return this.keep(await this.repository.fork(source, options));
  }

  /** Closes the session with the trial. */
  keep(session: Session): Session {
    this.#opened.push(session);
    return session;
  }

  /** Closes a session, opens it again, and answers what it shows. */
  async reopened(session: Session): Promise<SessionView> {
    await session.close();
    const again = await this.repository.open(session.metadata);
    try {
      return await viewOf(again);
    } finally {
      await again.close();
    }
  }

  async dispose(): Promise<void> {
    for (const session of this.#opened) await session.close();
    await this.handle.dispose();
  }
}

/** Everything that a session shows. */
export async function viewOf(session: Session): Promise<SessionView> {
  const registers: Register[] = [];
  for (const namespace of REGISTER_NAMESPACES) registers.push(...(await session.listRegisters(namespace)));
  return {
    entries: await session.scanEntries({}),
    registers,
    usage: await session.scanUsage({}),
    stats: await session.getStats(),
  };
}

/** The values of registers as `namespace/key`, for comparing without seqs. */
export function valuesOf({ registers }: SessionView): Record<string, unknown> {
  return Object.fromEntries(registers.map(({ namespace, key, value }) => [`${namespace}/${key}`, value]));
}

/** Commits writes in one transaction. */
export async function commit(session: Session, ...writes: Write[]): Promise<void> {
  await session.commit({ writes });
}
