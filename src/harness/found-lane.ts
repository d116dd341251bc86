/**
 * A lane as a job on its mutation line finds it, and the commit of an operation that is accepted there (spec §3.6).
 */
import type { LaneConfiguration, LaneState } from "../model/index.ts";
import type { AcceptedRun, AcceptedStructural, CurrentOperation } from "../operation/index.ts";
import type { Environment } from "./environment.ts";
import { commitAndPublish } from "./publish.ts";

/** The registers of a lane that is configured. */
export interface FoundLane {
  readonly laneState: LaneState;
  readonly leafId: string | null;
  readonly configuration: LaneConfiguration;
  readonly configurationSeq: number;
}

/** Reads the registers of a lane. */
export async function readLane({ session }: Environment, lane: string): Promise<FoundLane> {
  const [laneState, leaf, configuration] = await Promise.all([
    session.getRegister("lane.state", lane),
    session.getRegister("lane.leaf", lane),
    session.getRegister("lane.config", lane),
  ]);
  if (!laneState || !leaf || !configuration) throw new Error(`lane ${lane} lacks one of its registers`);
  return {
    laneState: laneState.value,
    leafId: leaf.value,
    configuration: configuration.value,
    configurationSeq: configuration.seq,
  };
}

/** Commits the acceptance of an operation on a lane that was found idle. */
export async function commitAccepted(
  environment: Environment,
  { configuration, configurationSeq }: FoundLane,
  { writes, operation, state, leafId }: AcceptedRun | AcceptedStructural,
): Promise<CurrentOperation> {
  const { seqs } = await commitAndPublish(environment, { writes });
  // The last two writes are op.state and lane.state, in this order.
  const stateSeq = seqs.at(-2);
  if (stateSeq === undefined) throw new Error("a store answers one seq per write");
  return { operation, state, stateSeq, leafId, configuration, configurationSeq };
}
