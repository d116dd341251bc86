/**
 * Repositories agree: the same calls, refused ones included, answer the same and leave the same sessions on all three.
 * A failure prints its seed and path.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../src/foundation/index.ts";
import type { Write } from "../src/model/index.ts";
import { type ForkOptions, newLaneWrites, type RewriteRules, type Session } from "../src/session/index.ts";
import type { SessionMetadata } from "../src/storage/index.ts";
import { jsonlRepositories, memoryRepositories, sqliteRepositories } from "./backends/repositories.ts";
import type { RepositoryFactory } from "./index.ts";
import { configuration } from "./repository/samples.ts";
import { RepositoryTrial, viewOf } from "./repository/trial.ts";
import { compaction, custom, fact, message, set, usage } from "./storage/samples.ts";

/** A pick is a fraction of whatever is there to pick from, so that every script fits every state. */
const pick = fc.nat(999);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ call: fc.constant("create" as const), named: fc.boolean() }) },
  {
    weight: 12,
    arbitrary: fc.record({
      call: fc.constant("commit" as const),
      session: pick,
      parent: pick,
      writes: fc.array(
        fc.constantFrom(
          "message",
          "compaction",
          "custom",
          "usage",
          "fact",
          "noFact",
          "label",
          "lane",
          "leaf",
          "queued",
        ),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      call: fc.constant("fork" as const),
      session: pick,
      entry: fc.option(pick),
      scope: fc.constantFrom("branch", "tree", "default"),
      position: fc.constantFrom("before", "at", undefined),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      call: fc.constant("rewrite" as const),
      session: pick,
      drop: fc.nat(5),
      unfinished: fc.constantFrom("refuse" as const, "drop" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ call: fc.constant("close" as const), session: pick }) },
  { weight: 4, arbitrary: fc.record({ call: fc.constant("open" as const), session: pick }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant("delete" as const), session: pick }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant("list" as const) }) },
);
const scripts = fc.array(step, { minLength: 30, maxLength: 60, size: "max" });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** One repository under a script. */
class Run {
  readonly #trial: RepositoryTrial;
  /** Every session that ever was, deleted ones too. */
  readonly #known: SessionMetadata[] = [];
  readonly #open = new Map<string, Session>();
  #count = 0;

  constructor(trial: RepositoryTrial) {
    this.#trial = trial;
  }

  async take(step: Step): Promise<string> {
    this.#trial.clock.step(10);
    this.#count += 1;
    try {
      return `${step.call}: ${canonicalJson((await this.#answer(step)) ?? null)}`;
    } catch (error) {
      // Messages name paths, which differ.
      const { name, code, reason } = error as { name?: string; code?: string; reason?: string };
      return `${step.call}: ${name} ${code} ${reason}`;
    }
  }

  /** Every session at the end, read without opening it. */
  async sessions(): Promise<string[]> {
    const dumps: string[] = [];
    for (const metadata of await this.#trial.repository.list()) {
      const dump = await this.#trial.repository.read(metadata, (reading) => reading.dump());
      dumps.push(canonicalJson(dump));
    }
    return dumps;
  }

  async #answer(step: Step): Promise<unknown> {
    const { repository } = this.#trial;
    switch (step.call) {
      case "create":
        return this.#made(
          await this.#trial.create(step.named ? { id: `s-${this.#known.length}`, cwd: "/w" } : {}),
        );
      case "commit": {
        const session = this.#openOne(step.session);
        if (session === undefined) return "nothing is open";
        const entries = (await session.scanEntries({})).map(({ id }) => id);
        const parent = at(entries, step.parent) ?? null;
        return session.commit({ writes: step.writes.flatMap((kind) => this.#writes(kind, session, parent)) });
      }
      case "fork": {
        const source = at(this.#known, step.session);
        if (source === undefined) return "there is none";
        const entries = this.#open.has(source.id)
          ? await (this.#open.get(source.id) as Session).scanEntries({})
          : [];
        const entryId = step.entry === null ? undefined : (at(entries, step.entry)?.id ?? "none");
        const options = {
          ...(step.scope === "default" ? {} : { scope: step.scope }),
          ...(step.scope === "tree" || entryId === undefined ? {} : { entryId }),
          ...(step.scope === "tree" || step.position === undefined ? {} : { position: step.position }),
        } as ForkOptions;
        return this.#made(await this.#trial.fork(source, options));
      }
      case "rewrite": {
        const metadata = at(this.#known, step.session);
        if (metadata === undefined) return "there is none";
        let seen = 0;
        const rules: RewriteRules = { entry: (entry) => (seen++ % 6 === step.drop ? undefined : entry) };
        return withoutPath(await repository.rewrite(metadata, rules, { unfinished: step.unfinished }));
      }
      case "close": {
        const session = this.#openOne(step.session);
        if (session === undefined) return "nothing is open";
        this.#open.delete(session.metadata.id);
        await session.close();
        return "closed";
      }
      case "open": {
        const metadata = at(this.#known, step.session);
        if (metadata === undefined) return "there is none";
        const session = await this.#trial.open(metadata);
        this.#open.set(metadata.id, session);
        return viewOf(session);
      }
      case "delete": {
        const metadata = at(this.#known, step.session);
        if (metadata === undefined) return "there is none";
        await repository.delete(metadata);
        return "deleted";
      }
      case "list":
        return (await repository.list()).map(withoutPath);
    }
  }

  #made(session: Session): unknown {
    this.#known.push(session.metadata);
    this.#open.set(session.metadata.id, session);
    return withoutPath(session.metadata);
  }

  #openOne(place: number): Session | undefined {
    return at([...this.#open.values()], place);
  }

  #writes(kind: string, session: Session, parent: string | null): Write[] {
    const id = session.idGenerator.next();
    switch (kind) {
      case "message":
        return [message(id, parent, `text ${this.#count}`), set("lane.leaf", "main", id)];
      case "compaction":
        return [compaction(id, parent), set("lane.leaf", "main", id)];
      case "custom":
        return [custom(id, parent, "note", { n: this.#count })];
      case "usage":
        return [usage(id, { input: this.#count, output: 1 })];
      case "fact":
        return [fact(`f${this.#count % 3}`, this.#count)];
      case "noFact":
        return [{ kind: "register", op: "delete", namespace: "fact.custom", key: `f${this.#count % 3}` }];
      case "label":
        return parent === null ? [fact("root", true)] : [set("fact.label", parent, `label ${this.#count}`)];
      case "lane":
        return newLaneWrites(`lane-${this.#count % 4}`, parent, configuration("m"));
      case "leaf":
        return [set("lane.leaf", "main", parent)];
      default:
        return [
          set("pending.entry", id, { type: "custom", customType: "queued" }),
          set("lane.state", "main", { currentOperationId: null, pendingNextRun: [id] }),
        ];
    }
  }
}

function at<T>(items: readonly T[], place: number): T | undefined {
  return items[Math.floor((place * items.length) / 1_000)];
}

function withoutPath(metadata: SessionMetadata): object {
  const { path: _path, ...rest } = metadata as SessionMetadata & { path?: string };
  return rest;
}

async function played(factory: RepositoryFactory, script: readonly Step[]): Promise<readonly string[]> {
  const trial = await RepositoryTrial.begin(factory);
  try {
    const run = new Run(trial);
    const answers: string[] = [];
    for (const each of script) answers.push(await run.take(each));
    return [...answers, ...(await run.sessions())];
  } finally {
    await trial.dispose();
  }
}

describe("the three repositories", () => {
  it("answer the same calls alike, and leave the same sessions", async () => {
    const calls = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const memory = await played(memoryRepositories, script);
        for (const line of memory.slice(0, script.length)) {
          const outcome = line.replace(/: [[{"].*/, ": answered");
          calls.set(outcome, (calls.get(outcome) ?? 0) + 1);
        }
        expect(await played(jsonlRepositories, script)).toEqual(memory);
        expect(await played(sqliteRepositories, script)).toEqual(memory);
      }),
      { numRuns: 12 },
    );
    // The scripts went where refusals are, and did not only run into them.
    for (const outcome of ["commit", "fork", "rewrite", "open"]) {
      expect(calls.get(`${outcome}: answered`) ?? 0).toBeGreaterThan(0);
    }
    expect([...calls.keys()].filter((outcome) => !outcome.endsWith("answered")).length).toBeGreaterThan(3);
  }, 120_000);

  it("are told apart from one that forks the whole tree whatever it is asked", async () => {
    const wrong: RepositoryFactory = {
      ...memoryRepositories,
      async create(options) {
        const handle = await memoryRepositories.create(options);
        const { repository } = handle;
        const fork: typeof repository.fork = (source) => repository.fork(source, { scope: "tree" });
        return {
          ...handle,
          repository: new Proxy(repository, {
            get: (target, name) => {
              if (name === "fork") return fork;
              const member: unknown = Reflect.get(target, name, target);
              return typeof member === "function" ? member.bind(target) : member;
            },
          }),
        };
      },
    };
    const details = await fc.check(
      fc.asyncProperty(scripts, async (script) => {
        expect(await played(wrong, script)).toEqual(await played(memoryRepositories, script));
      }),
      { numRuns: 12, endOnFailure: true },
    );
    expect(details.failed).toBe(true);
  }, 120_000);
});
