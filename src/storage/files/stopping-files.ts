/**
 * A file system of which one call goes wrong: for loops that fail call 1, 2, 3… of a piece of work until none fires,
 * so that every step is covered without a count kept by hand.
 *
 * Terms. A call can *fail*, and the ones after it work again; or the process *dies* at it, and every later call is
 * refused, so that nothing is cleaned up. It goes wrong `before` it has done anything, `inside` (a write leaves half
 * of its bytes; other calls have no inside and go wrong before), or `after` it has done all.
 */
import type { FileStatus, FileSystem, OpenMode } from "./file-system.ts";

/** Which call goes wrong, counted from 1 since `arm`, and how. */
export interface Stop {
  readonly call: number;
  readonly kind: "fails" | "dies";
  readonly when: "before" | "inside" | "after";
  /** How many bytes a write leaves that goes wrong inside; default: half of them. */
  readonly bytesWritten?: number;
}

/** Every way in which a call can go wrong. */
export const STOP_FORMS: readonly Pick<Stop, "kind" | "when">[] = (["fails", "dies"] as const).flatMap(
  (kind) => (["before", "inside", "after"] as const).map((when) => ({ kind, when })),
);

/** See the module header. Unarmed, it passes everything on. */
export class StoppingFiles implements FileSystem {
  /** The calls since `arm`, by name. */
  calls: string[] = [];
  readonly #inner: FileSystem;
  #stop: Stop | undefined;
  #hasFired = false;
  #isDead = false;

  constructor(inner: FileSystem) {
    this.#inner = inner;
  }

  /** Counts calls from here on, and lets one of them go wrong. */
  arm(stop?: Stop): void {
    this.calls = [];
    this.#stop = stop;
    this.#hasFired = false;
  }

  /** Whether the armed call was reached. */
  get hasFired(): boolean {
    return this.#hasFired;
  }

  open(path: string, mode: OpenMode): number {
    return this.#step(`open ${mode}`, () => this.#inner.open(path, mode));
  }

  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number {
    return this.#step("read", () => this.#inner.read(file, into, offset, length, position));
  }

  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const write = (count: number) => this.#inner.write(file, bytes, offset, count, position);
    const part = Math.min(this.#stop?.bytesWritten ?? Math.floor(length / 2), length);
    return this.#step(
      "write",
      () => write(length),
      () => write(part),
    );
  }

  truncate(file: number, sizeBytes: number): void {
    this.#step("truncate", () => this.#inner.truncate(file, sizeBytes));
  }

  fstat(file: number): FileStatus {
    return this.#step("fstat", () => this.#inner.fstat(file));
  }

  close(file: number): void {
    this.#step("close", () => this.#inner.close(file));
  }

  rename(from: string, to: string): void {
    this.#step("rename", () => this.#inner.rename(from, to));
  }

  unlink(path: string): void {
    this.#step("unlink", () => this.#inner.unlink(path));
  }

  link(existing: string, name: string): void {
    this.#step("link", () => this.#inner.link(existing, name));
  }

  sync(file: number): void {
    this.#step("sync", () => this.#inner.sync(file));
  }

  syncFolder(path: string): void {
    this.#step("syncFolder", () => this.#inner.syncFolder(path));
  }

  list(folder: string): string[] {
    return this.#step("list", () => this.#inner.list(folder));
  }

  realPath(path: string): string {
    return this.#step("realPath", () => this.#inner.realPath(path));
  }

  #step<T>(name: string, call: () => T, part?: () => unknown): T {
    if (this.#isDead) throw new Error(`${name}: the process is dead`);
    this.calls.push(name);
    const stop = this.#stop;
    if (stop === undefined || stop.call !== this.calls.length) return call();
    this.#hasFired = true;
    this.#isDead = stop.kind === "dies";
    if (stop.when === "after") call();
    if (stop.when === "inside") part?.();
    throw Object.assign(new Error(`EIO: ${name} went wrong ${stop.when}`), { code: "EIO" });
  }
}
