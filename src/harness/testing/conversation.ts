/** Two turns said and done, for the tests of compactions. */
import type { CompactionSettings, LaneLastResult } from "../../model/index.ts";
import type { AgentHarness } from "../agent-harness.ts";
import type { CompactResult } from "../decision-hooks.ts";
import type { Hooks } from "../hooks.ts";
import { inWords, isSummaryRequest, text, tokens, World } from "./scripted.ts";

/** Keeps the newest message alone. */
export const SETTINGS: CompactionSettings = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };
export const RETRY = { enabled: true, maxRetries: 1, baseDelayMs: 100 };

export const commitsFrom = (world: World, first: number) =>
  world.commits.slice(first).map((writes) => writes.map(inWords));
export const summaryRequests = (world: World) => world.requests.filter(isSummaryRequest);
export const last = (harness: AgentHarness) => harness.getLastResult() as Promise<LaneLastResult>;
export const compactions = (world: World) =>
  world.disk.dump().entries.filter(({ type }) => type === "compaction");

/** Two turns said and done. */
export async function conversation(options: Parameters<World["boot"]>[0] = {}, hooked: Hooked = () => {}) {
  const world = new World(text("one"), text("two"), text("three"));
  world.summaries = [text("SUMMARY")];
  const life = await world.boot({ compaction: SETTINGS, ...options });
  hooked(life.harness.hooks);
  await life.harness.prompt("first");
  await life.harness.prompt("second");
  return { world, harness: life.harness, session: life.session, commitCount: world.commitCount };
}

/** Registers handlers. */
export type Hooked = (hooks: Hooks) => void;

export const hook =
  (answer: unknown): Hooked =>
  (hooks) =>
    hooks.on("before_compaction", () => answer as { decline?: boolean });
export const supplied: CompactResult = {
  summary: "HOOK",
  tokensBefore: 5,
  retainedTail: [{ role: "user", content: "kept", timestamp: 1 }],
  usage: tokens(3, 4),
  details: { any: "thing" },
};
