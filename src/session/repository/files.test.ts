/** What single media promise of a repository beside the conformance suite: modes, names, links, what stands beside. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../foundation/index.ts";
import type { FileSessionMetadata, SkippedFile } from "./contract.ts";
import { REPOSITORY_KINDS, withFolder } from "./test-support.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;
const FIXTURE = new URL("../../../fixtures/sessions/version-0-open.jsonl", import.meta.url);

describe.each(REPOSITORY_KINDS)("a $name repository", ({ name, extension, open }) => {
  it("makes folders and files for their owner alone", () =>
    withFolder(async (_, scratch) => {
      const folder = join(scratch, "deep", "er");
      const session = await open(folder).create({ id: "s" });
      await session.setName("x");
      const fork = await open(folder, { incarnation: 1 }).fork(session.metadata);
      expect([modeOf(join(scratch, "deep")), modeOf(folder)]).toEqual([0o700, 0o700]);
      for (const file of readdirSync(folder))
        expect([file, modeOf(join(folder, file))]).toEqual([file, 0o600]);
      await session.close();
      await fork.close();
      const rewritten = await open(folder).rewrite(session.metadata, {});
      expect(modeOf(rewritten.path)).toBe(0o600);
      expect(readdirSync(folder).sort()).toEqual([basename(fork.metadata.path), `s${extension}`].sort());
    }));

  it("changes nothing by listing or reading, not even its folder", () =>
    withFolder(async (folder, scratch) => {
      expect(await open(folder).list()).toEqual([]);
      expect(readdirSync(scratch)).toEqual([]);
      const session = await open(folder).create({ id: "s" });
      await session.close();
      const before = readFileSync(session.metadata.path);
      await open(folder).list();
      await open(folder).read(session.metadata, (reading) => reading.dump());
      expect(readFileSync(session.metadata.path).equals(before)).toBe(true);
      expect(readdirSync(folder)).toEqual([`s${extension}`]);
    }));

  it("refuses a path that is not its own, and leaves what is there alone", () =>
    withFolder(async (folder, scratch) => {
      const outside = await open(join(scratch, "other")).create({ id: "out" });
      await outside.close();
      const repository = open(folder);
      const session = await repository.create({ id: "s" });
      await session.close();
      const { path } = outside.metadata;
      const bytes = readFileSync(path);
      mkdirSync(join(folder, "sub"));
      copyFileSync(path, join(folder, "sub", `out${extension}`));
      mkdirSync(join(folder, `folder${extension}`));
      symlinkSync(path, join(folder, `link${extension}`));
      symlinkSync(session.metadata.path, join(folder, `inner${extension}`));
      copyFileSync(path, join(folder, "out.txt"));
      copyFileSync(path, join(folder, `moved${extension}`));
      const refused: [string, FileSessionMetadata, object][] = [
        ["outside", outside.metadata, { reason: "outside" }],
        [
          "up",
          { ...outside.metadata, path: join(folder, "..", "other", `out${extension}`) },
          { reason: "outside" },
        ],
        [
          "below",
          { ...outside.metadata, path: join(folder, "sub", `out${extension}`) },
          { reason: "outside" },
        ],
        ["a link out", { ...outside.metadata, path: join(folder, `link${extension}`) }, { reason: "link" }],
        ["a link in", { ...session.metadata, path: join(folder, `inner${extension}`) }, { reason: "link" }],
        [
          "a folder",
          { ...session.metadata, path: join(folder, `folder${extension}`) },
          { reason: "not_a_file" },
        ],
        ["a name", { ...outside.metadata, path: join(folder, "out.txt") }, { reason: "name" }],
        [
          "another id",
          { ...session.metadata, path: join(folder, `moved${extension}`) },
          { reason: "other_id" },
        ],
        [
          "no file",
          { ...session.metadata, path: join(folder, `none${extension}`) },
          { code: "SESSION_NOT_FOUND" },
        ],
        [
          "no folder",
          { ...session.metadata, path: join(scratch, "no", `s${extension}`) },
          { code: "SESSION_NOT_FOUND" },
        ],
      ];
      for (const [why, metadata, expected] of refused) {
        const calls = [
          () => repository.open(metadata),
          () => repository.read(metadata, (reading) => reading.dump()),
          () => repository.fork(metadata),
          () => repository.rewrite(metadata, {}),
          () => repository.delete(metadata),
        ];
        for (const call of calls) {
          const error = await call().then(
            () => undefined,
            (reason: unknown) => reason,
          );
          expect([why, error]).toEqual([why, expect.objectContaining(expected)]);
        }
      }
      expect(readFileSync(path).equals(bytes)).toBe(true);
      expect((await repository.list()).map(({ id }) => id).sort()).toEqual(["out", "s"]);
    }));

  it("may itself be named through a link", () =>
    withFolder(async (folder, scratch) => {
      const session = await open(folder).create({ id: "s" });
      await session.close();
      const alias = join(scratch, "alias");
      symlinkSync(folder, alias);
      const repository = open(alias);
      const [metadata] = await repository.list();
      expect(metadata).toEqual(session.metadata);
      const again = await repository.open({ ...session.metadata, path: join(alias, `s${extension}`) });
      await again.close();
      expect(again.metadata.path).toBe(session.metadata.path);
    }));

  it("lists what is a session, whatever its file is called, and names what is none", () =>
    withFolder(async (folder) => {
      const clock = new VirtualClock();
      const repository = open(folder, { clock });
      for (const id of ["old", "new"]) {
        await (await repository.create({ id })).close();
        clock.step(1_000);
      }
      const at = (file: string) => join(folder, file + extension);
      copyFileSync(at("old"), at("a copy"));
      renameSync(at("new"), at("2023-11-14 new"));
      copyFileSync(at("2023-11-14 new"), at("2023-11-15 new"));
      utimesSync(at("old"), new Date(), new Date());
      symlinkSync(at("old"), at("link"));
      mkdirSync(at("folder"));
      writeFileSync(at("empty"), "");
      writeFileSync(at("foreign"), "not a session\n");
      writeFileSync(join(folder, `old${extension}.new-1`), "a leftover");
      const skipped: SkippedFile[] = [];
      const listed = await repository.list({ onSkipped: (each) => skipped.push(each) });
      expect(listed.map(({ id, path }) => [id, basename(path)])).toEqual([
        ["new", `2023-11-14 new${extension}`],
        ["old", `old${extension}`],
      ]);
      const reasons = skipped.map(({ path, reason }) => [basename(path, extension), reason]);
      expect(reasons.sort()).toEqual([
        ["2023-11-15 new", "duplicate_id"],
        ["a copy", "duplicate_id"],
        ["empty", "unreadable"],
        ["folder", "not_a_file"],
        ["foreign", "unreadable"],
        ["link", "link"],
      ]);
      const session = await repository.open(listed[0] as FileSessionMetadata);
      await session.close();
    }));

  it("deletes a session with what a dead writer left beside it, and no file of another", () =>
    withFolder(async (folder) => {
      const repository = open(folder);
      const session = await repository.create({ id: "s" });
      await session.close();
      writeFileSync(join(folder, `s${extension}.new-1`), "a leftover with text of the session");
      writeFileSync(join(folder, `s2${extension}.new-1`), "of another");
      await repository.delete(session.metadata);
      expect(readdirSync(folder)).toEqual([`s2${extension}.new-1`]);
    }));

  it("leaves no leftover with the old contents when it rewrites a session", () =>
    withFolder(async (folder) => {
      const repository = open(folder);
      const session = await repository.create({ id: "s" });
      await session.close();
      writeFileSync(join(folder, `s${extension}.new-3`), "a leftover with text of the session");
      await repository.rewrite(session.metadata, {});
      expect(readdirSync(folder)).toEqual([`s${extension}`]);
    }));

  it("lists a session of a newer version, and neither opens, forks, rewrites nor deletes it", () =>
    withFolder(async (folder) => {
      const repository = open(folder);
      const session = await repository.create({ id: "s" });
      await session.close();
      const { path } = session.metadata;
      if (name === "sqlite") {
        const database = new Database(path);
        database.exec("UPDATE session SET storage_version = 99");
        database.close();
      } else
        writeFileSync(path, readFileSync(path, "utf8").replace('"storageVersion":1', '"storageVersion":99'));
      const before = readFileSync(path);
      const [metadata] = await repository.list();
      expect(metadata).toMatchObject({ id: "s", storageVersion: 99 });
      const calls = [
        () => repository.open(session.metadata),
        () => repository.fork(session.metadata),
        () => repository.rewrite(session.metadata, {}),
        () => repository.delete(session.metadata),
      ];
      for (const call of calls)
        await expect(call()).rejects.toMatchObject({ code: "STORAGE_VERSION_TOO_NEW" });
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(folder)).toEqual([`s${extension}`]);
    }));
});

describe("a session of an older version", () => {
  const [jsonl] = REPOSITORY_KINDS;

  it("is migrated by opening it, and forked in the new version though it was closed", () =>
    withFolder(async (folder) => {
      mkdirSync(folder);
      writeFileSync(join(folder, "old.jsonl"), readFileSync(FIXTURE));
      const repository = jsonl?.open(folder);
      const [old] = (await repository?.list()) ?? [];
      if (repository === undefined || old === undefined) throw new Error("the fixture is a session");
      expect(old.storageVersion).toBe(0);
      const fork = await repository.fork(old, { scope: "tree" });
      expect(fork.metadata).toMatchObject({ storageVersion: 1, parentSessionId: old.id });
      expect((await fork.listRegisters("lane.config")).length).toBeGreaterThan(0);
      await fork.close();
      const session = await repository.open(old);
      expect(session.metadata.storageVersion).toBe(1);
      await session.close();
      expect((await repository.list()).map(({ storageVersion }) => storageVersion)).toEqual([1, 1]);
    }));
});

describe("a SQLite session", () => {
  const sqlite = REPOSITORY_KINDS[1];

  it("is not opened, forked to, rewritten or deleted through a link beside it", () =>
    withFolder(async (folder, scratch) => {
      if (sqlite === undefined) throw new Error("there is a SQLite repository");
      const repository = sqlite.open(folder);
      const session = await repository.create({ id: "s" });
      await session.close();
      const outside = join(scratch, "outside");
      writeFileSync(outside, "");
      symlinkSync(outside, join(folder, "s.db-wal"));
      await expect(repository.open(session.metadata)).rejects.toMatchObject({ reason: "link" });
      await expect(repository.delete(session.metadata)).rejects.toMatchObject({ reason: "link" });
      expect(statSync(outside).size).toBe(0);
    }));

  it("is refused to a second process while its lease lasts, for opening, deleting and rewriting; not for reading", () =>
    withFolder(async (folder) => {
      if (sqlite === undefined) throw new Error("there is a SQLite repository");
      const session = await sqlite.open(folder).create({ id: "s" });
      await session.setName("held");
      const other = sqlite.open(folder, { incarnation: 1 });
      const calls = [
        () => other.open(session.metadata),
        () => other.delete(session.metadata),
        () => other.rewrite(session.metadata, {}),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "LEASE_HELD" });
      const name = await other.read(session.metadata, (reading) => reading.dump().registers[0]?.value);
      expect(name).toBe("held");
      const fork = await other.fork(session.metadata);
      expect(await fork.getName()).toBe("held");
      await fork.close();
      await session.close();
      await other.delete(session.metadata);
    }));
});

describe("a JSONL session with a second name", () => {
  it("is opened: a hard link leads nowhere", () =>
    withFolder(async (folder, scratch) => {
      const repository = REPOSITORY_KINDS[0]?.open(folder);
      const session = await repository?.create({ id: "s" });
      if (repository === undefined || session === undefined) throw new Error("there is a JSONL repository");
      await session.close();
      linkSync(session.metadata.path, join(scratch, "backup"));
      await (await repository.open(session.metadata)).close();
    }));
});
