/**
 * The statements of one commit: rows in, registers set, branch index and totals kept (spec §1.4, §1.7).
 *
 * Everything here runs inside the caller's transaction. The next seq and the totals are read from the session row
 * each time, so that a rolled-back transaction leaves nothing to take back.
 * Entries and ledger rows are only ever inserted.
 */
import { absurd } from "../../foundation/index.ts";
import {
  type CommitResult,
  type Entry,
  type EntryDraft,
  type Register,
  type UsageRow,
  type UsageRowDraft,
  type Write,
  zeroUsage,
} from "../../model/index.ts";
import type { IdLookup } from "../admission.ts";
import { sumWith } from "../ledger-sum.ts";
import type { BranchIndex } from "./branch-index.ts";
import type { Connection } from "./connection.ts";
import { decodeUsage, ENTRY_COLUMNS, encodePayload, USAGE_COLUMNS } from "./rows.ts";

/** Writes rows into the tables of one session. */
export class SessionWriter implements IdLookup {
  readonly #connection: Connection;
  readonly #index: BranchIndex;
  /** The sum that was encoded last, with its text, so that the next commit need not decode it. */
  #newestSum = { text: "", usage: zeroUsage() };

  constructor(connection: Connection, index: BranchIndex) {
    this.#connection = connection;
    this.#index = index;
  }

  hasEntry(id: string): boolean {
    return this.#connection.statement(HAS_ENTRY).get(id) !== undefined;
  }

  hasId(id: string): boolean {
    return this.hasEntry(id) || this.#connection.statement(HAS_USAGE).get(id) !== undefined;
  }

  /** Applies admitted writes in their order, each under the next seq. */
  apply(writes: readonly Write[], timestamp: number): CommitResult {
    const totals = this.#connection.statement(READ_TOTALS).get() as [number, number, string];
    const firstSeq = totals[0];
    let [seq, messageCount, usageText] = totals;
    const seqs: number[] = [];
    for (const write of writes) {
      switch (write.kind) {
        case "entry":
          this.insertEntry(write.entry, seq, timestamp);
          if (write.entry.type === "message") messageCount += 1;
          break;
        case "usage":
          this.insertUsage(write.row, seq);
          usageText = this.#sum(usageText, write.row, seqs.length);
          break;
        case "register":
          if (write.op === "set") this.setRegister({ ...write, seq });
          else this.#connection.statement(DELETE_REGISTER).run(write.namespace, write.key);
          break;
        default:
          absurd(write, "write");
      }
      seqs.push(seq);
      seq += 1;
    }
    this.#connection.statement(WRITE_TOTALS).run(seq, messageCount, usageText);
    return { firstSeq, seqs, timestamp };
  }

  insertEntry(entry: EntryDraft | Entry, seq: number, timestamp: number): void {
    const { id, parentId, type } = entry;
    const customType = entry.type === "custom" ? entry.customType : null;
    this.#connection
      .statement(INSERT_ENTRY)
      .run(id, parentId, seq, type, customType, timestamp, encodePayload(entry));
    this.#index.append(id, parentId, seq, type);
  }

  insertUsage(row: UsageRowDraft | UsageRow, seq: number): void {
    const details = row.details === undefined ? null : JSON.stringify(row.details);
    this.#connection
      .statement(INSERT_USAGE)
      .run(row.id, seq, row.entryId ?? null, row.adjustment ? 1 : 0, JSON.stringify(row.usage), details);
  }

  setRegister({ namespace, key, seq, value }: Pick<Register, "namespace" | "key" | "seq" | "value">): void {
    this.#connection.statement(SET_REGISTER).run(namespace, key, seq, JSON.stringify(value));
  }

  /** The text of the sum with one more row. */
  #sum(usageText: string, row: UsageRowDraft, writeIndex: number): string {
    const isKnown = usageText === this.#newestSum.text;
    const before = isKnown ? this.#newestSum.usage : decodeUsage(usageText, this.#connection);
    const usage = sumWith(before, row.usage, writeIndex);
    this.#newestSum = { text: JSON.stringify(usage), usage };
    return this.#newestSum.text;
  }
}

const HAS_ENTRY = "SELECT 1 FROM entries WHERE id = ?";
const HAS_USAGE = "SELECT 1 FROM usage_ledger WHERE id = ?";
const READ_TOTALS = "SELECT next_seq, message_count, usage_payload FROM session WHERE rowid = 1";
const WRITE_TOTALS = "UPDATE session SET next_seq = ?, message_count = ?, usage_payload = ? WHERE rowid = 1";
const INSERT_ENTRY = `INSERT INTO entries(${ENTRY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const INSERT_USAGE = `INSERT INTO usage_ledger(${USAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;
const SET_REGISTER =
  "INSERT INTO registers(namespace, key, seq, value) VALUES (?, ?, ?, ?) " +
  "ON CONFLICT(namespace, key) DO UPDATE SET seq = excluded.seq, value = excluded.value";
const DELETE_REGISTER = "DELETE FROM registers WHERE namespace = ? AND key = ?";

/** Every read that a commit makes outside the branch index, for the guard over query plans. */
export const WRITER_READS = [HAS_ENTRY, HAS_USAGE, READ_TOTALS, DELETE_REGISTER, SET_REGISTER] as const;
