/** `crashproof merge FILE…`: the JSON of all shards becomes the result of the whole plan. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  type ExploreResult,
  MergeRefused,
  mergeShards,
  type NamedResult,
  RESULT_SCHEMA,
} from "../explore/index.ts";
import { isRecord } from "../foundation/index.ts";
import { type ExitCode, reasonOf, UsageError } from "./exit.ts";
import { type ResultOptions, withResultOptions } from "./options.ts";
import { assertWritable } from "./output.ts";
import { codeHash } from "./parts.ts";
import { report } from "./session.ts";
import type { Streams } from "./streams.ts";
import { subjectById } from "./subjects.ts";
import { VERSION } from "./version.ts";

export function merge(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  withResultOptions(program.command("merge"))
    .argument("<file...>", "what --json wrote for each of the shards, in any order")
    .description(
      "put the shards of one plan together: the same result as without shards, byte for byte but for host times, which are added up",
    )
    .action(async (files: string[], options: ResultOptions) => {
      if (options.json !== undefined) assertWritable(options.json);
      end(report(merged(files.map(read), await codeHash()), options, streams));
    });
}

function merged(shards: readonly NamedResult[], code: string): ExploreResult {
  try {
    return mergeShards(shards, subjectById, { version: VERSION, code });
  } catch (error) {
    if (error instanceof MergeRefused) throw new UsageError(error.code, error.message);
    throw error;
  }
}

function read(name: string): NamedResult {
  try {
    const result: unknown = JSON.parse(readFileSync(name, "utf8"));
    if (!isRecord(result) || result.schema !== RESULT_SCHEMA) throw new Error(`expected ${RESULT_SCHEMA}`);
    if (result.shard !== undefined && !isShard(result.shard)) throw new Error("its shard is damaged");
    return { name, result: result as unknown as ExploreResult };
  } catch (error) {
    const message = `cannot read the shard ${JSON.stringify(name)}: ${reasonOf(error)}`;
    throw new UsageError("UNREADABLE_SHARD", message);
  }
}

/** Whether all is there that is read before the plan is known. */
function isShard(shard: unknown): boolean {
  if (!isRecord(shard) || !isRecord(shard.plan) || !Array.isArray(shard.records)) return false;
  const isNumbered = [shard.index, shard.count].every((number) => typeof number === "number");
  return isNumbered && shard.records.every((record) => isRecord(record) && Array.isArray(record.groups));
}
