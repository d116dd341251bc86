/**
 * Conversion: a session that was read from a file in another format, and is written in format 4 by its first commit
 * (spec Appendix B). What the other format is, and how it is read, is the business of the caller.
 *
 * Invariants.
 * 1. Until the first commit nothing of the file changes; reads are answered from the rows that the caller gave.
 * 2. The first commit writes the whole file: header, rows, the prelude, and as the last line the commit itself. It
 *    is renamed over the old one, and only while the old one is what was read. Before the rename the old file stands.
 * 3. A commit that is refused converts nothing, and mints nothing for the prelude.
 */
import type { Write } from "../../model/index.ts";
import type { SessionMetadata, SessionStats } from "../contract.ts";
import type { SessionContents } from "../dump.ts";
import type { StoredWrite } from "../stored-write.ts";
import { Tables } from "../tables.ts";
import { ByteAccount } from "./byte-account.ts";
import { encodeTransaction, type Header } from "./codec.ts";
import { headerOf, snapshotContent } from "./snapshot.ts";

/** What is read from the other format. */
export interface ConvertibleSession {
  readonly metadata: SessionMetadata;
  /** By rising seq, from 1. */
  readonly contents: SessionContents;
  /** What statistics say until the conversion; afterwards the ledger says it. */
  readonly stats: SessionStats;
  /** Makes the writes that come before the first commit, so that the ledger gives the same totals. */
  readonly prelude: () => readonly Write[];
}

/** The new file, as far as it is known before it is written. */
export interface ConvertedFile {
  readonly header: Header;
  /** Filled in while the content is taken. */
  readonly account: ByteAccount;
  readonly content: Iterable<Uint8Array>;
  /** Prelude and commit, for the tables. */
  readonly stored: StoredWrite[];
}

/** The file of a converted session. `writes` are the prelude and then the commit, with seq from `firstSeq` on. */
export function convertedFile(
  metadata: SessionMetadata,
  tables: Tables,
  writes: { readonly prelude: readonly Write[]; readonly commit: readonly Write[] },
  firstSeq: number,
  timestamp: number,
): ConvertedFile {
  const prelude = encodeTransaction(writes.prelude, firstSeq, timestamp).stored;
  const commit = encodeTransaction(writes.commit, firstSeq + prelude.length, timestamp);
  const before = new Tables(tables);
  before.apply(prelude);
  const header = headerOf(metadata, before);
  const account = new ByteAccount();
  const content = (function* () {
    yield* snapshotContent(header, before, account);
    const line = Buffer.from(commit.line);
    account.addLine(commit.stored, line.length - 1);
    yield line;
  })();
  return { header, account, content, stored: [...prelude, ...commit.stored] };
}
