/** The host's SQLite driver with statements that fail, as a `MediumFault` says. */
import Database from "better-sqlite3";
import type { FaultOutcome, FaultyLife, MediumFault, MediumFaultKind } from "../../faults/index.ts";
import type { Connect } from "../../storage/index.ts";

const throwing = (code: string, after: "nothing" | "all" = "nothing"): FaultOutcome => {
  return { kind: "throws", code, after };
};
const EVERY_LIFE: readonly FaultyLife[] = ["first", "next"];

/**
 * How a database fails under a session. A statement that failed has done nothing, but for a COMMIT that fails late: all
 * of the transaction is in the log, and SQLite could not tell.
 */
export const DATABASE_FAULTS: readonly MediumFaultKind[] = [
  { name: "open-cantopen", calls: ["open"], lives: EVERY_LIFE, outcome: throwing("SQLITE_CANTOPEN") },
  { name: "pragma-ioerr", calls: ["pragma"], lives: EVERY_LIFE, outcome: throwing("SQLITE_IOERR") },
  { name: "begin-busy", calls: ["begin"], lives: EVERY_LIFE, outcome: throwing("SQLITE_BUSY") },
  { name: "begin-ioerr", calls: ["begin"], lives: EVERY_LIFE, outcome: throwing("SQLITE_IOERR_LOCK") },
  { name: "read-ioerr", calls: ["read"], lives: EVERY_LIFE, outcome: throwing("SQLITE_IOERR_READ") },
  { name: "write-full", calls: ["write"], lives: EVERY_LIFE, outcome: throwing("SQLITE_FULL") },
  { name: "write-ioerr", calls: ["write"], lives: EVERY_LIFE, outcome: throwing("SQLITE_IOERR_WRITE") },
  { name: "commit-busy", calls: ["commit"], lives: EVERY_LIFE, outcome: throwing("SQLITE_BUSY") },
  { name: "commit-full", calls: ["commit"], lives: EVERY_LIFE, outcome: throwing("SQLITE_FULL") },
  { name: "commit-ioerr", calls: ["commit"], lives: EVERY_LIFE, outcome: throwing("SQLITE_IOERR_FSYNC") },
  {
    name: "commit-late-ioerr",
    calls: ["commit"],
    lives: EVERY_LIFE,
    outcome: throwing("SQLITE_IOERR_FSYNC", "all"),
  },
  {
    // Nothing can be taken back any more: the transaction stays open until the process is gone.
    name: "write-and-rollback-ioerr",
    calls: ["write", "rollback"],
    lives: EVERY_LIFE,
    outcome: throwing("SQLITE_IOERR"),
  },
  {
    name: "commit-and-rollback-ioerr",
    calls: ["commit", "rollback"],
    lives: EVERY_LIFE,
    outcome: throwing("SQLITE_IOERR"),
  },
];

/** See the module header. */
export function faultyDatabase(fault: MediumFault): Connect {
  return (filename, options) => {
    const outcome = fault.next("open");
    if (outcome !== undefined) throw errorOf(outcome, "open");
    const database = new Database(filename, options);
    const prepare = database.prepare.bind(database);
    const pragma = database.pragma.bind(database);
    // Statements keep their methods on themselves here.
    database.prepare = ((sql: string) => {
      const statement = prepare(sql);
      const name = callOf(sql);
      for (const method of ["run", "get", "all"] as const) {
        const call = statement[method].bind(statement) as (...parameters: unknown[]) => unknown;
        Object.assign(statement, {
          [method]: (...parameters: unknown[]) => failing(fault, name, () => call(...parameters)),
        });
      }
      return statement;
    }) as typeof database.prepare;
    database.pragma = (source, how) => failing(fault, "pragma", () => pragma(source, how));
    return database;
  };
}

/** The name of what a statement does, as the kinds of faults know it. */
function callOf(sql: string): string {
  const [word = ""] = /^\w+/.exec(sql) ?? [];
  return CALLS[word.toUpperCase()] ?? "write";
}

const CALLS: Readonly<Record<string, string>> = {
  BEGIN: "begin",
  COMMIT: "commit",
  ROLLBACK: "rollback",
  SELECT: "read",
  WITH: "read",
};

function failing<T>(fault: MediumFault, name: string, call: () => T): T {
  const outcome = fault.next(name);
  if (outcome === undefined) return call();
  if (outcome.kind === "throws" && outcome.after === "all" && name === "commit") call();
  throw errorOf(outcome, name);
}

function errorOf(outcome: FaultOutcome, name: string): Error {
  if (outcome.kind === "short") throw new Error(`${name} cannot fall short`);
  return new Database.SqliteError(`made to fail, ${name}`, outcome.code);
}
