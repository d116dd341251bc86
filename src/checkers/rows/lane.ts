/**
 * Rows of lanes at rest: configuration, facts, the ledger, and appends to an idle lane (spec §2.3, §2.4, §3.11).
 */
import { jsonEquals } from "../../foundation/index.ts";
import { isRegisterNamespace, type Write } from "../../model/index.ts";
import { WRITE_FORMS } from "../write-form.ts";
import { type Cursor, describeWrite, fact, type Row, type Step, writeAt } from "./row.ts";
import { entry, laneState, leafToNewest, set, usage } from "./steps.ts";

const FACT_FORMS = WRITE_FORMS.filter((form) => form.includes(" fact."));

const isIdle = fact("the lane is idle", ({ laneBefore }) => laneBefore?.currentOperationId === null);

export const LANE_ROWS: readonly Row[] = [
  {
    name: "lane.seed",
    section: "§2.8",
    says: "the first attach of a harness writes the seed configuration of an unconfigured lane",
    from: ["untouched"],
    to: ["untouched"],
    writes: [set("lane.config", (site) => site.lane)],
    holds: [
      fact("the lane exists and has no configuration", ({ model, lane, laneBefore }) => {
        return (
          lane !== undefined && laneBefore !== undefined && model.value("lane.config", lane) === undefined
        );
      }),
    ],
  },
  {
    name: "lane.configure",
    section: "§2.3",
    says: "a setter overwrites the whole configuration",
    from: ["untouched"],
    to: ["untouched"],
    writes: [set("lane.config", (site) => site.lane)],
    holds: [
      fact("the lane has a configuration", ({ model, lane }) => {
        return lane !== undefined && model.value("lane.config", lane) !== undefined;
      }),
    ],
  },
  {
    name: "lane.create",
    section: "§2.3",
    says: "a new lane at an anchor, idle, with its seed configuration",
    from: ["untouched"],
    to: ["untouched"],
    writes: [
      set("lane.config", (site) => site.lane),
      set(
        "lane.leaf",
        (site) => site.lane,
        (value, { site }) => {
          return value === null || (typeof value === "string" && site.model.entry(value) !== undefined);
        },
      ),
      laneState,
    ],
    holds: [
      fact(
        "no lane of that name exists",
        ({ laneBefore, leaf }) => laneBefore === undefined && leaf === undefined,
      ),
      fact("it starts idle and empty", ({ laneAfter }) => {
        return jsonEquals(laneAfter, { currentOperationId: null, pendingNextRun: [] });
      }),
    ],
  },
  {
    name: "fact.write",
    section: "§2.4",
    says: "an application sets or clears one fact",
    from: ["untouched"],
    to: ["untouched"],
    writes: [factWrite()],
    holds: [],
  },
  {
    name: "usage.adjust",
    section: "§1.6",
    says: "the caller reconciles the ledger",
    from: ["untouched"],
    to: ["untouched"],
    writes: [usage({ is: "an adjustment", accepts: (row) => row.adjustment })],
    holds: [],
  },
  {
    name: "tree.append",
    section: "§3.11",
    says: "a tree write on an idle lane: entry, leaf",
    from: ["untouched"],
    to: ["untouched"],
    writes: [
      entry({
        is: "a message or custom entry",
        accepts: ({ type }) => type === "message" || type === "custom",
      }),
      leafToNewest,
    ],
    holds: [isIdle],
  },
];

function factWrite(): Step {
  return {
    says: "set or delete one fact",
    forms: FACT_FORMS,
    mayTakeNone: false,
    take: (cursor: Cursor) => {
      const write = writeAt(cursor);
      if (!isFactWrite(write)) return describeWrite(write);
      cursor.at++;
      return undefined;
    },
  };
}

function isFactWrite(write: Write | undefined): boolean {
  return (
    write?.kind === "register" && isRegisterNamespace(write.namespace) && write.namespace.startsWith("fact.")
  );
}
