/** Session files that can be told to stop in the middle of their next append, for good; see `faults/medium-stop.ts`. */
import type { SessionFile, SessionFiles } from "../../txlog/index.ts";

export class StoppableFiles implements SessionFiles {
  readonly #inner: SessionFiles;
  #stop: { readonly bytesWritten: number; readonly reached: () => void } | undefined;
  #isStopped = false;

  constructor(inner: SessionFiles) {
    this.#inner = inner;
  }

  stopAfter(bytesWritten: number, reached: () => void): void {
    this.#stop = { bytesWritten, reached };
  }

  realPath(path: string): Promise<string> {
    return this.#inner.realPath(path);
  }

  makeDirectory(path: string): Promise<void> {
    return this.#inner.makeDirectory(path);
  }

  list(directory: string): ReturnType<SessionFiles["list"]> {
    return this.#inner.list(directory);
  }

  async create(path: string, mode: number): Promise<SessionFile> {
    return this.#stoppable(await this.#inner.create(path, mode));
  }

  async open(path: string): Promise<SessionFile> {
    return this.#stoppable(await this.#inner.open(path));
  }

  remove(path: string): Promise<void> {
    return this.#inner.remove(path);
  }

  #stoppable(file: SessionFile): SessionFile {
    return {
      read: () => file.read(),
      append: (bytes) => this.#append(file, bytes),
      truncate: async (length) => {
        this.#assertGoing();
        await file.truncate(length);
      },
      setMode: (mode) => file.setMode(mode),
      close: () => file.close(),
    };
  }

  async #append(file: SessionFile, bytes: Uint8Array): Promise<number> {
    this.#assertGoing();
    const stop = this.#stop;
    if (stop === undefined) return file.append(bytes);
    this.#isStopped = true;
    await file.append(bytes.subarray(0, stop.bytesWritten));
    stop.reached();
    throw new Error("the medium stopped in the middle of this write");
  }

  #assertGoing(): void {
    if (this.#isStopped) throw new Error("the medium takes nothing more");
  }
}
