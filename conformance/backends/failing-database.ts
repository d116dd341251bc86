/**
 * The host's SQLite driver, with a COMMIT that fails on demand. Around the shipped store, so that the store under test
 * is the one that is shipped.
 */
import Database from "better-sqlite3";
import type { Connect } from "../../src/storage/index.ts";

/** A driver, and the switch that makes the next COMMIT of its databases fail with an SQLite result code. */
export interface FailingDatabase {
  readonly connect: Connect;
  failNextCommit(): void;
}

/** @param code `SQLITE_FULL` is rolled back and over; after `SQLITE_IOERR` nobody knows what is on the medium. */
export function failingDatabase(code: "SQLITE_FULL" | "SQLITE_IOERR"): FailingDatabase {
  let fails = false;
  const failOnce = () => {
    if (!fails) return;
    fails = false;
    throw new Database.SqliteError(`made to fail: ${code}`, code);
  };
  const connect: Connect = (filename, options) => {
    const database = new Database(filename, options);
    const prepare = database.prepare.bind(database);
    // Statements keep their methods on themselves here; only the one that ends a transaction is touched.
    database.prepare = ((sql: string) => {
      const statement = prepare(sql);
      if (sql !== "COMMIT") return statement;
      const run = statement.run.bind(statement);
      statement.run = (...parameters: unknown[]) => {
        failOnce();
        return run(...parameters);
      };
      return statement;
    }) as typeof database.prepare;
    return database;
  };
  return {
    connect,
    failNextCommit() {
      fails = true;
    },
  };
}
