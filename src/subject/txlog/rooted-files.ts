/**
 * Host files of a session that does not know where it is: it sees one working directory, the same for every disk.
 *
 * A session file names its working directory. Were that the folder of a disk, its bytes would depend on where and by whom
 * it was explored, and a fault that is named by a byte would be another one in the next process.
 */
import { realpath } from "node:fs/promises";
import { NodeSessionFiles, type SessionFile, type SessionFiles } from "../../txlog/index.ts";

/** The working directory of every session, as it sees it. */
export const SESSION_CWD = "/session";

/** See the module header. */
export class RootedFiles implements SessionFiles {
  readonly #host = new NodeSessionFiles();
  readonly #root: string;

  /** @param root the folder on the host that stands for {@link SESSION_CWD}. */
  constructor(root: string) {
    this.#root = root;
  }

  async realPath(path: string): Promise<string> {
    const real = await this.#host.realPath(this.#onHost(path));
    return SESSION_CWD + real.slice((await realpath(this.#root)).length);
  }

  makeDirectory(path: string): Promise<void> {
    return this.#host.makeDirectory(this.#onHost(path));
  }

  list(directory: string): ReturnType<SessionFiles["list"]> {
    return this.#host.list(this.#onHost(directory));
  }

  create(path: string, mode: number): Promise<SessionFile> {
    return this.#host.create(this.#onHost(path), mode);
  }

  open(path: string): Promise<SessionFile> {
    return this.#host.open(this.#onHost(path));
  }

  remove(path: string): Promise<void> {
    return this.#host.remove(this.#onHost(path));
  }

  #onHost(path: string): string {
    if (path !== SESSION_CWD && !path.startsWith(`${SESSION_CWD}/`)) {
      throw new RangeError(`a session in ${SESSION_CWD} asks for ${path}`);
    }
    return this.#root + path.slice(SESSION_CWD.length);
  }
}
