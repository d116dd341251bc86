/** Every step that touches files, failed and killed: what was there is there, what was made is whole or not there. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { STOP_FORMS, type Stop, StoppingFiles, unlinkedFileSystem } from "../../storage/index.ts";
import type { FileSessionMetadata } from "./contract.ts";
import { type FileRepository, REPOSITORY_KINDS, withFolder } from "./test-support.ts";

/** Waiting for the device proves nothing here and takes most of the time. */
const quickFiles = { ...unlinkedFileSystem, sync: () => undefined, syncFolder: () => undefined };

const STEPS: Record<string, (repository: FileRepository, source: FileSessionMetadata) => Promise<unknown>> = {
  create: async (repository) => (await repository.create({ id: "made" })).close(),
  "fork of a branch": async (repository, source) => (await repository.fork(source, { id: "made" })).close(),
  "fork of the tree": async (repository, source) =>
    (await repository.fork(source, { id: "made", scope: "tree" })).close(),
  rewrite: (repository, source) =>
    repository.rewrite(source, { entry: (entry) => (entry.type === "custom" ? undefined : entry) }),
  delete: (repository, source) => repository.delete(source),
};

describe.each(REPOSITORY_KINDS)("in a $name repository", ({ extension, open }) => {
  it.each(Object.keys(STEPS))("a %s is done or not done, whatever step fails or kills", (step) =>
    withFolder(async (folder) => {
      const setUp = open(folder, { fileSystem: quickFiles });
      const source = await setUp.create({ id: "source" });
      await source.appendMessage({ role: "user", content: "kept", timestamp: 1 });
      await source.appendCustomEntry("note", "dropped by the rewrite");
      await source.close();
      const bytes = readFileSync(source.metadata.path);
      const outcomes = new Set<string>();
      let life = 1;
      for (const form of STOP_FORMS) {
        for (let call = 1; ; call++) {
          for (const name of readdirSync(folder)) rmSync(join(folder, name));
          writeFileSync(source.metadata.path, bytes);
          const files = new StoppingFiles(quickFiles);
          const repository = open(folder, { fileSystem: files, incarnation: life++ });
          files.arm({ call, ...form } satisfies Stop);
          const failure = await STEPS[step]?.(repository, source.metadata).then(
            () => undefined,
            (error: unknown) => error,
          );
          const found = await stateOf(open(folder, { fileSystem: quickFiles, incarnation: life++ }));
          outcomes.add(found);
          if (failure === undefined) expect(DONE[step]).toBe(found);
          else expect([UNDONE, DONE[step]]).toContain(found);
          const strange = readdirSync(folder).filter((name) => !isExpected(name, extension));
          expect(strange).toEqual([]);
          if (!files.hasFired) break;
        }
      }
      expect([...outcomes].sort()).toEqual([UNDONE, DONE[step]].sort());
    }),
  );
});

const UNDONE = "source: kept, note";
const DONE: Record<string, string> = {
  create: "made: ; source: kept, note",
  "fork of a branch": "made: kept, note; source: kept, note",
  "fork of the tree": "made: kept, note; source: kept, note",
  rewrite: "source/1: kept",
  delete: "",
};

/** What a repository holds: every session that it lists, opened, with its generation and its branch. */
async function stateOf(repository: FileRepository): Promise<string> {
  const sessions: string[] = [];
  for (const metadata of await repository.list()) {
    const session = await repository.open(metadata);
    const branch = await session.findEntriesOnBranch({ order: "oldestFirst" });
    const told = branch.map((entry) => (entry.type === "custom" ? entry.customType : "kept"));
    const generation = session.metadata.storeGeneration;
    await session.setName("goes on");
    await session.close();
    const name = generation === undefined ? session.metadata.id : `${session.metadata.id}/${generation}`;
    sessions.push(`${name}: ${told.join(", ")}`);
  }
  return sessions.sort().join("; ");
}

function isExpected(name: string, extension: string): boolean {
  return ["source", "made"].some((id) => {
    const file = id + extension;
    return name === file || (name.startsWith(file) && /^\.new-\d+$/.test(name.slice(file.length)));
  });
}
