/**
 * The Memory repository: sessions on disks in memory, which outlive their stores and live as long as their map.
 */
import {
  MemoryDisk,
  MemoryStorage,
  type SessionContents,
  SessionExists,
  type SessionMetadata,
} from "../../storage/index.ts";
import {
  type RepositoryOptions,
  SessionNotFound,
  type SessionReading,
  type SessionRepository,
} from "./contract.ts";
import { readingOf } from "./files.ts";
import { BackedRepository, type RepositoryBackend } from "./repository.ts";

export interface MemoryRepositoryOptions extends RepositoryOptions {
  /** The disks, by session id. Default: none yet. */
  readonly disks?: Map<string, MemoryDisk>;
}

/** A repository over disks in memory. */
export function memoryRepository(options: MemoryRepositoryOptions): SessionRepository {
  return new BackedRepository(new MemoryBackend(options), options);
}

class MemoryBackend implements RepositoryBackend<SessionMetadata, MemoryStorage> {
  readonly #disks: Map<string, MemoryDisk>;
  readonly #options: MemoryRepositoryOptions;

  constructor(options: MemoryRepositoryOptions) {
    this.#options = options;
    this.#disks = options.disks ?? new Map();
  }

  locate(metadata: SessionMetadata): SessionMetadata {
    return metadata;
  }

  resolve(place: SessionMetadata): SessionMetadata {
    this.#disk(place.id);
    return place;
  }

  isSame(left: SessionMetadata, right: SessionMetadata): boolean {
    return left.id === right.id;
  }

  withPlace(metadata: SessionMetadata): SessionMetadata {
    return metadata;
  }

  create(_place: SessionMetadata, metadata: SessionMetadata, contents: SessionContents | undefined): void {
    if (this.#disks.has(metadata.id)) throw new SessionExists(metadata.id);
    this.#disks.set(metadata.id, MemoryDisk.create(metadata, contents));
  }

  async open({ id }: SessionMetadata): Promise<MemoryStorage> {
    return new MemoryStorage({ disk: this.#disk(id), clock: this.#options.clock });
  }

  openForRewrite(place: SessionMetadata): Promise<MemoryStorage> {
    return this.open(place);
  }

  read<T>({ id }: SessionMetadata, look: (reading: SessionReading) => T): T {
    return look(readingOf(this.#disk(id).dump()));
  }

  list(): SessionMetadata[] {
    return [...this.#disks.values()].map(({ metadata }) => metadata);
  }

  async replace(store: MemoryStorage, metadata: SessionMetadata, contents: SessionContents): Promise<void> {
    const replacement = MemoryDisk.create(metadata, contents);
    await store.close();
    this.#disks.set(metadata.id, replacement);
  }

  async delete({ id }: SessionMetadata): Promise<void> {
    this.#disks.delete(id);
  }

  #disk(id: string): MemoryDisk {
    const disk = this.#disks.get(id);
    if (disk === undefined) throw new SessionNotFound(id);
    return disk;
  }
}
