/**
 * The rows of a world in a file, so that a world outlives a real process.
 *
 * Format. One row a line, as JSON; a row is there if and only if its line ends with a line feed. A last line without
 * one is what a process left that died while it wrote: the effect had not happened yet, as no answer existed. The first
 * append after it cuts it off; whoever reads leaves it alone.
 *
 * Invariants.
 * 1. A row is with the operating system when `append` returns, so it survives a `kill -9` of its process.
 * 2. Reading changes nothing.
 *
 * Corruption reason: `world-row`, for a complete line that is no row.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { Corruption } from "../foundation/index.ts";
import type { WorldLedger } from "./world.ts";
import type { WorldRow } from "./world-row.ts";

const LINE_FEED = 0x0a;

/** See the module header. One process appends at a time. */
export class FileLedger implements WorldLedger {
  readonly #path: string;
  readonly #rows: WorldRow[];
  /** Where a torn last line begins, until it is cut off. */
  #tornAtByte: number | undefined;
  /** Opened for the first row: of many worlds that die young, no file is needed. */
  #descriptor: number | undefined;

  /** Opens the ledger of a file, and makes the file, with the first row, where there is none. */
  constructor(path: string) {
    this.#path = path;
    const bytes = bytesOf(path);
    this.#rows = rowsOf(bytes, path);
    const completeBytes = bytes.lastIndexOf(LINE_FEED) + 1;
    this.#tornAtByte = completeBytes < bytes.length ? completeBytes : undefined;
  }

  get rows(): readonly WorldRow[] {
    return this.#rows;
  }

  append(row: WorldRow): void {
    this.#descriptor ??= this.#open();
    writeSync(this.#descriptor, `${JSON.stringify(row)}\n`);
    this.#rows.push(row);
  }

  /** Lets the file go. Nothing is lost without it. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #open(): number {
    const descriptor = openSync(this.#path, "a");
    if (this.#tornAtByte !== undefined) ftruncateSync(descriptor, this.#tornAtByte);
    this.#tornAtByte = undefined;
    return descriptor;
  }
}

/** The rows in a file, without changing it; none if there is no file. Throws `Corruption`, see the header. */
export function readLedger(path: string): readonly WorldRow[] {
  return rowsOf(bytesOf(path), path);
}

function bytesOf(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

function rowsOf(bytes: Buffer, file: string): WorldRow[] {
  const rows: WorldRow[] = [];
  let start = 0;
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    const text = bytes.toString("utf8", start, end);
    const row = parseRow(text);
    if (row === undefined) {
      const place = { file, line: rows.length + 1, byteOffset: start };
      throw new Corruption(
        "world-row",
        `expected a row of the world's ledger, found ${text.slice(0, 80)}`,
        place,
      );
    }
    rows.push(row);
    start = end + 1;
  }
  return rows;
}

function parseRow(text: string): WorldRow | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("kind" in value)) return undefined;
  return ROW_KINDS.has(value.kind) ? (value as WorldRow) : undefined;
}

const ROW_KINDS: ReadonlySet<unknown> = new Set<WorldRow["kind"]>([
  "request",
  "summary",
  "decision",
  "tool",
  "cancellation",
]);
