/**
 * Lanes as registers: what a lane is made of (spec §2.3).
 *
 * Order of writes of a new lane: `lane.config`, `lane.leaf`, `lane.state`. The lane `main` of a new session is made by
 * its store, without a configuration (spec §2.8).
 */
import type { LaneConfiguration, Write } from "../model/index.ts";

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
    {
      kind: "register",
      op: "set",
      namespace: "lane.state",
      key: lane,
      value: { currentOperationId: null, pendingNextRun: [] },
    },
  ];
}

/** Overwrites the whole configuration of a lane. */
export function configurationWrite(lane: string, configuration: LaneConfiguration): Write {
  return { kind: "register", op: "set", namespace: "lane.config", key: lane, value: configuration };
}
