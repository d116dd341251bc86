/** Compaction on request: of a session that is open, between two of its commits, and of one that is not. */
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import { jsonlRepository } from "./jsonl.ts";
import { withFolder } from "./test-support.ts";

function repositoryIn(folder: string) {
  const clock = new VirtualClock();
  return jsonlRepository({ folder, clock, idGenerator: idsOfIncarnation(9, 0, clock) });
}

const queue = (id: string) =>
  ({
    kind: "register",
    op: "set",
    namespace: "pending.entry",
    key: id,
    value: { type: "custom", customType: "secret", payload: "what was cancelled" },
  }) as const;

describe("compacting a session on request", () => {
  it("rids the file of cancelled content while the session stays open, and what is committed meanwhile stays", () =>
    withFolder(async (folder) => {
      const repository = repositoryIn(folder);
      const session = await repository.create();
      const { path } = session.metadata;
      await session.commit({ writes: [queue("q")] });
      await session.commit({
        writes: [{ kind: "register", op: "delete", namespace: "pending.entry", key: "q" }],
      });
      expect(readFileSync(path, "utf8")).toContain("what was cancelled");
      const [, report] = await Promise.all([
        session.appendMessage({ role: "user", content: "before", timestamp: 1 }),
        repository.compact(session.metadata),
        session.appendMessage({ role: "user", content: "after", timestamp: 1 }),
      ]);
      expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
      expect(readFileSync(path, "utf8")).not.toContain("what was cancelled");
      expect(await session.findEntries()).toHaveLength(2);
      await session.close();
      const again = await repository.open(session.metadata);
      expect(await again.findEntries()).toHaveLength(2);
      await again.close();
      expect(readdirSync(folder)).toHaveLength(1);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }));

  it("of one that is closed does the same, and opens nothing for good", () =>
    withFolder(async (folder) => {
      const repository = repositoryIn(folder);
      const session = await repository.create();
      for (const name of ["a", "b", "c"]) await session.setName(name);
      await session.close();
      const report = await repository.compact(session.metadata);
      expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
      const again = await repository.open(session.metadata);
      expect(await again.getName()).toBe("c");
      await again.close();
    }));

  it("leaves a legacy file alone, and a file that another process changed", () =>
    withFolder(async (folder) => {
      const repository = repositoryIn(folder);
      const session = await repository.create({ id: "s" });
      const legacy = fileURLToPath(new URL("../../../fixtures/sessions/v3-library.jsonl", import.meta.url));
      copyFileSync(legacy, join(folder, "old.jsonl"));
      const [old] = (await repository.list()).filter(({ path }) => path.endsWith("old.jsonl"));
      await repository.compact(old as NonNullable<typeof old>);
      expect(readFileSync(join(folder, "old.jsonl"))).toEqual(readFileSync(legacy));

      const changed = `${readFileSync(session.metadata.path, "utf8")}{}\n`;
      writeFileSync(session.metadata.path, changed);
      await expect(repository.compact(session.metadata)).rejects.toMatchObject({ name: "StorageFault" });
      expect(readFileSync(session.metadata.path, "utf8")).toBe(changed);
      await session.close();
    }));
});
