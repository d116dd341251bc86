/**
 * Lanes as registers: what a lane is made of (spec §2.3).
 *
 * Order of writes of a new lane: `lane.config`, `lane.leaf`, `lane.state`. The lane `main` of a new session is made by
 * its store, without a configuration (spec §2.8).
 */

import { idleLaneState, type LaneConfiguration, type Register, type Write } from "../model/index.ts";
import { lastSeqOf } from "../storage/index.ts";

/** The lane that every session has. */
export const MAIN_LANE = "main";

/** The writes that make a lane. */
export function newLaneWrites(
  lane: string,
  leafId: string | null,
  configuration: LaneConfiguration,
): Write[] {
  return [
    configurationWrite(lane, configuration),
    { kind: "register", op: "set", namespace: "lane.leaf", key: lane, value: leafId },
    { kind: "register", op: "set", namespace: "lane.state", key: lane, value: idleLaneState() },
  ];
}

/** A lane and the entry that it points at; null at the root. */
export type LaneLeaf = readonly [lane: string, leafId: string | null];

/** The leaves and states of idle lanes, behind every row that a new session has taken over. */
export function idleLanes(
  taken: readonly { readonly seq: number }[],
  leaves: readonly LaneLeaf[],
): Register[] {
  let seq = lastSeqOf(taken);
  return leaves.flatMap(([key, leafId]): Register[] => [
    { namespace: "lane.leaf", key, value: leafId, seq: ++seq },
    { namespace: "lane.state", key, value: idleLaneState(), seq: ++seq },
  ]);
}

/** Overwrites the whole configuration of a lane. */
export function configurationWrite(lane: string, configuration: LaneConfiguration): Write {
  return { kind: "register", op: "set", namespace: "lane.config", key: lane, value: configuration };
}
