/** Legacy session files in a repository: sessions like others, and untouched until something is written. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { FileSessionMetadata } from "./contract.ts";
import type { jsonlRepository } from "./jsonl.ts";
import { type FileRepository, REPOSITORY_KINDS, withFolder } from "./test-support.ts";

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../fixtures/sessions/${name}.jsonl`, import.meta.url));

function withLegacy(
  name: string,
  test: (given: {
    repository: FileRepository;
    metadata: FileSessionMetadata;
    bytes: Buffer;
  }) => Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    mkdirSync(folder);
    copyFileSync(fixture(name), join(folder, `2026-01-05T09-00-00-000Z_${name}.jsonl`));
    const repository = REPOSITORY_KINDS[0]?.open(folder);
    const [metadata] = (await repository?.list()) ?? [];
    if (repository === undefined || metadata === undefined) throw new Error("the fixture is a session");
    await test({ repository, metadata, bytes: readFileSync(metadata.path) });
  });
}

describe.each(["v1-linear", "v2-hook-message", "v3-application", "v3-library"])(
  "the legacy file %s",
  (name) => {
    it("is listed, read, opened and forked, and keeps its bytes", () =>
      withLegacy(name, async ({ repository, metadata, bytes }) => {
        const dump = await repository.read(metadata, (reading) => reading.dump());
        const session = await repository.open(metadata);
        expect(session.metadata).toEqual(metadata);
        expect(await session.scanEntries({})).toEqual(dump.entries);
        expect(await session.getStats()).toEqual(dump.stats);
        const fork = await repository.fork(metadata, { scope: "tree" });
        expect(await fork.scanEntries({})).toEqual(dump.entries);
        expect(await fork.getRegister("lane.config", "main")).toBeUndefined();
        expect((await fork.getStats()).usage.totalTokens).toBe(0);
        expect(fork.metadata.parentSessionId).toBe(metadata.id);
        await fork.close();
        await session.close();
        expect(readFileSync(metadata.path).equals(bytes)).toBe(true);
      }));

    it("is converted by its first write, and found again under the same name", () =>
      withLegacy(name, async ({ repository, metadata, bytes }) => {
        const session = await repository.open(metadata);
        const before = await session.getStats();
        await session.setName("converted");
        await session.close();
        expect(readFileSync(metadata.path).equals(bytes)).toBe(false);
        const [listed] = await repository.list();
        expect(listed).toEqual(metadata);
        const again = await repository.open(metadata);
        expect(await again.getStats()).toEqual(before);
        expect(await again.getName()).toBe("converted");
        await again.close();
      }));

    it("is converted by a rewrite, which keeps its totals", () =>
      withLegacy(name, async ({ repository, metadata }) => {
        const dump = await repository.read(metadata, (reading) => reading.dump());
        const rewritten = await repository.rewrite(metadata, {});
        expect(rewritten).toEqual({ ...metadata, storeGeneration: 1 });
        const after = await repository.read(rewritten, (reading) => reading.dump());
        expect(after.entries).toEqual(dump.entries);
        expect(after.stats).toEqual(dump.stats);
        expect(after.usage).toHaveLength(1);
      }));

    it("is deleted", () =>
      withLegacy(name, async ({ repository, metadata }) => {
        await repository.delete(metadata);
        expect(await repository.list()).toEqual([]);
      }));
  },
);

it("a legacy file of an unknown version is skipped with the reason, and left alone", () =>
  withFolder(async (folder) => {
    mkdirSync(folder);
    const path = join(folder, "s.jsonl");
    writeFileSync(path, '{"type":"session","version":9,"id":"s","timestamp":"2026-01-05T09:00:00.000Z"}\n');
    const repository = REPOSITORY_KINDS[0]?.open(folder) as ReturnType<typeof jsonlRepository>;
    const skipped: unknown[] = [];
    expect(await repository.list({ onSkipped: ({ error }) => skipped.push(error) })).toEqual([]);
    expect(skipped).toEqual([expect.objectContaining({ code: "LEGACY_VERSION_UNKNOWN", found: 9 })]);
    const named = { id: "s", createdAt: 1, storageVersion: 1, path };
    await expect(repository.open(named)).rejects.toMatchObject({ code: "LEGACY_VERSION_UNKNOWN" });
  }));
