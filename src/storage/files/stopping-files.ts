/**
 * A file system of which one call goes wrong: for loops that fail call 1, 2, 3… of a piece of work until none fires,
 * so that every step is covered without a count kept by hand.
 *
 * Terms. A call can *fail*, and the ones after it work again; or the process *dies* at it, and every later call is
 * refused, so that nothing is cleaned up. It goes wrong `before` it has done anything, `inside` (a write leaves half
 * of its bytes; other calls have no inside and go wrong before), or `after` it has done all.
 */
import { type FileCall, FilesThrough } from "./files-through.ts";

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
export class StoppingFiles extends FilesThrough {
  /** The calls since `arm`, by name. */
  calls: string[] = [];
  #stop: Stop | undefined;
  #hasFired = false;
  #isDead = false;

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

  protected pass<T>({ name: call, mode, make, write }: FileCall<T>): T {
    const name = mode === undefined ? call : `${call} ${mode}`;
    if (this.#isDead) throw new Error(`${name}: the process is dead`);
    this.calls.push(name);
    const stop = this.#stop;
    if (stop === undefined || stop.call !== this.calls.length) return make();
    this.#hasFired = true;
    this.#isDead = stop.kind === "dies";
    if (stop.when === "after") make();
    if (stop.when === "inside" && write !== undefined) {
      write.make(Math.min(stop.bytesWritten ?? Math.floor(write.length / 2), write.length));
    }
    throw Object.assign(new Error(`EIO: ${name} went wrong ${stop.when}`), { code: "EIO" });
  }
}
