/** What the tests of this folder share: repositories and indexes in a folder that each test has to itself. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect } from "vitest";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { FileSessionMetadata, SessionRepository } from "../repository/contract.ts";
import { jsonlRepository } from "../repository/jsonl.ts";
import { sqliteRepository } from "../repository/sqlite.ts";
import type { Session } from "../session.ts";
import { createSqliteSearchService, type SearchServiceOptions } from "./service.ts";

/** The folder of the test that runs. */
export let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "search-"));
});
afterEach(() => rmSync(scratch, { recursive: true }));

export const clock = new VirtualClock();
const idGenerator = idsOfIncarnation(5, 0, clock);
export const KINDS = ["jsonl", "sqlite"] as const;

export function repositoryOf(kind: (typeof KINDS)[number] = "jsonl"): SessionRepository<FileSessionMetadata> {
  const options = { folder: join(scratch, kind), clock, idGenerator };
  return kind === "jsonl" ? jsonlRepository(options) : sqliteRepository({ ...options, ownerId: "test" });
}

export function serviceOver(
  repository: SessionRepository<FileSessionMetadata>,
  options: Partial<SearchServiceOptions<FileSessionMetadata>> = {},
) {
  return createSqliteSearchService({
    repository,
    path: join(scratch, "index", "search.db"),
    clock,
    ...options,
  });
}

export const say = (session: Session, content: string) =>
  session.appendMessage({ role: "user", content, timestamp: 1 });

/** A closed session in which these messages were said. */
export async function told(
  repository: SessionRepository<FileSessionMetadata>,
  id: string,
  ...messages: string[]
): Promise<FileSessionMetadata> {
  const session = await repository.create({ id });
  for (const message of messages) await say(session, message);
  await session.close();
  return session.metadata;
}

/** What an index holds, without the numbers that are only its own. */
export function contentsOf(path = join(scratch, "index", "search.db")): unknown {
  const database = new Database(path);
  try {
    database.exec("INSERT INTO documents_fts(documents_fts) VALUES ('integrity-check')");
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    return {
      documents: database.prepare("SELECT session_id, entry_id, text FROM documents ORDER BY 1, 2").all(),
      cursors: database.prepare("SELECT session_id, generation, seq, entry_id FROM cursors ORDER BY 1").all(),
      words: database
        .prepare("SELECT rowid IS NOT NULL AS found FROM documents_fts WHERE documents_fts MATCH 'word'")
        .all().length,
    };
  } finally {
    database.close();
  }
}
