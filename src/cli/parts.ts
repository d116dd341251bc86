/** The parts of an exploration: which shard it is, and the checkpoint that it keeps. */
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import {
  Checkpoint,
  CheckpointRefused,
  type ExploreHost,
  type ExplorePlan,
  fingerprintOf,
} from "../explore/index.ts";
import { childProgram } from "../subprocess/index.ts";
import { reasonOf, UsageError } from "./exit.ts";
import type { CommonOptions } from "./options.ts";
import { assertNamesFile } from "./output.ts";
import type { Streams } from "./streams.ts";

/** Runs `work` with the shard and the checkpoint that the options ask for, if any. */
export async function withParts<T>(
  plan: ExplorePlan,
  options: CommonOptions,
  streams: Streams,
  work: (parts: Pick<ExploreHost, "shard" | "checkpoint">) => Promise<T>,
): Promise<T> {
  const { shard, checkpoint: path } = options;
  if (shard === undefined && path === undefined) return work({});
  if (plan.fuzz?.untilMs !== undefined) {
    const message =
      "what ends by the clock (--time) has no parts: it is another plan each time; give --runs instead";
    throw new UsageError("ENDS_BY_THE_CLOCK", message);
  }
  const code = await codeHash();
  const sharding = shard === undefined ? {} : { shard: { ...shard, code } };
  if (path === undefined) return work(sharding);
  const checkpoint = openCheckpoint(path, plan, code, streams);
  try {
    const { size } = checkpoint.records;
    if (size > 0 && options.quiet !== true) {
      streams.err(`${size} finished ${size === 1 ? "unit" : "units"} taken up from ${path}\n`);
    }
    return await work({ ...sharding, checkpoint });
  } finally {
    checkpoint.close();
  }
}

function openCheckpoint(path: string, plan: ExplorePlan, code: string, streams: Streams): Checkpoint {
  const { version, command } = plan;
  const lost = (error: unknown) =>
    streams.err(
      `crashproof: ${path} cannot be written any more, so that what is explored from here on is not kept; the result is not affected: ${reasonOf(error)}\n`,
    );
  try {
    assertNamesFile(path);
    // Before its lock is made, which stays.
    if (existsSync(path)) accessSync(path, constants.W_OK);
    return Checkpoint.open(path, { fingerprint: fingerprintOf(plan, code), version, command }, lost);
  } catch (error) {
    if (error instanceof CheckpointRefused) throw new UsageError(error.code, error.message);
    const message = `cannot write the checkpoint ${JSON.stringify(path)}: ${reasonOf(error)}`;
    throw new UsageError("UNWRITABLE_CHECKPOINT", message);
  }
}

/** Stands for the code that explores: that of the bundle which workers run. */
export async function codeHash(): Promise<string> {
  const { program } = await childProgram({ name: "worker" });
  return createHash("sha256").update(readFileSync(program)).digest("hex");
}
