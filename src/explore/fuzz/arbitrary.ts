/**
 * The arbitraries: how plans of cases are drawn. Each simple part comes first, so that shrinking goes towards it: a prompt
 * that is answered, a tool that answers, no fault.
 */
import fc from "fast-check";
import type { ActPlan, CasePlan, FaultPlan, MeanwhilePlan, SummaryPlan, ToolPlan, TurnPlan } from "./plan.ts";

/**
 * The mixtures that there are: what a run id names where others name a scenario. `plain`: what every system can do, prompts
 * and tools on one lane. `one-lane`: everything that one lane can do. `several-lanes`: up to three lanes under way at once.
 */
export const MIXTURES = ["plain", "one-lane", "several-lanes"] as const;
export type Mixture = (typeof MIXTURES)[number];

/** Plans of a mixture. */
export function casePlans(mixture: Mixture): fc.Arbitrary<CasePlan> {
  return FAULTS_FIRST[mixture];
}

const FAULTS_MAX = 4;

const rarely = fc.oneof(
  { weight: 5, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

const TOOL: fc.Arbitrary<ToolPlan> = fc.record({
  replay: fc.constantFrom("safe", "never"),
  does: fc.constantFrom("answers", "costs", "ends", "throws", "requires"),
  isRedeployed: rarely,
});

const PLAIN_TOOL: fc.Arbitrary<ToolPlan> = fc.record({
  replay: fc.constantFrom("safe", "never"),
  does: fc.constantFrom("answers", "costs", "throws"),
  isRedeployed: fc.constant(false),
});

const MEANWHILE: fc.Arbitrary<MeanwhilePlan> = fc.record({
  call: fc.oneof(
    { weight: 3, arbitrary: fc.constant("steer" as const) },
    { weight: 3, arbitrary: fc.constant("followUp" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("nextRun" as const, "appendMessage" as const, "appendCustom" as const),
    },
    { weight: 2, arbitrary: fc.constantFrom("withdraw" as const, "abort" as const) },
  ),
  when: fc.nat(7),
  which: fc.nat(3),
});

/** A cancellation while the model answers, or a tool runs. */
const PLAIN_MEANWHILE: fc.Arbitrary<MeanwhilePlan> = fc.record({
  call: fc.constant("abort" as const),
  when: fc.nat(3),
  which: fc.constant(0),
});

const NOTHING_FIRST = fc.constant<TurnPlan["first"]>([]);

const TURN: fc.Arbitrary<TurnPlan> = turns(
  failures(["busy", "busy", "refused", "overflow", "deferred", "mismatched"]),
  MEANWHILE,
);
/** Without what leads to work on the tree, which the script counts over all lanes. */
const LANE_TURN: fc.Arbitrary<TurnPlan> = turns(failures(["busy", "busy", "refused", "deferred"]), MEANWHILE);
const PLAIN_TURN: fc.Arbitrary<TurnPlan> = turns(NOTHING_FIRST, PLAIN_MEANWHILE);

function failures(kinds: TurnPlan["first"]): fc.Arbitrary<TurnPlan["first"]> {
  return fc.oneof(
    { weight: 3, arbitrary: NOTHING_FIRST },
    { weight: 2, arbitrary: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 2 }) },
  );
}

function turns(
  first: fc.Arbitrary<TurnPlan["first"]>,
  meanwhile: fc.Arbitrary<MeanwhilePlan>,
): fc.Arbitrary<TurnPlan> {
  return fc.record({
    first,
    answer: fc.oneof(
      { weight: 8, arbitrary: fc.constant("stop" as const) },
      { weight: 1, arbitrary: fc.constantFrom("length" as const, "error" as const) },
    ),
    calls: fc.array(fc.nat(2), { maxLength: 3 }),
    isLarge: rarely,
    meanwhile: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(meanwhile, { minLength: 1, maxLength: 2 }) },
    ),
  });
}

const prompts = (turn: fc.Arbitrary<TurnPlan>): fc.Arbitrary<ActPlan> =>
  fc.record({ act: fc.constant("prompt" as const), turns: fc.array(turn, { minLength: 1, maxLength: 3 }) });

const SAY: fc.Arbitrary<ActPlan> = fc.record({
  act: fc.constant("say" as const),
  call: fc.constantFrom("nextRun", "appendMessage", "appendCustom"),
});

const WITHDRAW: fc.Arbitrary<ActPlan> = fc.record({
  act: fc.constant("withdraw" as const),
  which: fc.nat(3),
});

const ACT: fc.Arbitrary<ActPlan> = fc.oneof(
  { weight: 5, arbitrary: prompts(TURN) },
  { weight: 1, arbitrary: SAY },
  { weight: 1, arbitrary: WITHDRAW },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("note" as const),
      call: fc.constantFrom("setThinkingLevel", "setName", "recordUsage"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: "compact" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("navigate" as const),
      which: fc.nat(5),
      summarize: fc.boolean(),
    }),
  },
);

const LANE_ACT: fc.Arbitrary<ActPlan> = fc.oneof(
  { weight: 5, arbitrary: prompts(LANE_TURN) },
  { weight: 1, arbitrary: SAY },
  { weight: 1, arbitrary: WITHDRAW },
);

const PLAIN_ACT: fc.Arbitrary<ActPlan> = fc.oneof(
  { weight: 5, arbitrary: prompts(PLAIN_TURN) },
  { weight: 1, arbitrary: fc.constant({ act: "compact" as const }) },
);

const SUMMARY: fc.Arbitrary<SummaryPlan> = fc.record({
  decision: fc.constantFrom("none", "none", "decline", "supply"),
  failures: fc.nat(2),
  meanwhile: fc.array(MEANWHILE, { maxLength: 1 }),
});

const PLACE = fc.nat(999);

const FAULT: fc.Arbitrary<FaultPlan> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      fault: fc.constant("death" as const),
      at: PLACE,
      position: fc.constantFrom("before", "inside", "after"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fault: fc.constant("disk" as const),
      which: fc.nat(30),
      at: PLACE,
      isLasting: fc.boolean(),
    }),
  },
);

/** All that is drawn alike. */
const COMMON = {
  tools: fc.array(TOOL, { minLength: 1, maxLength: 3 }),
  lanes: fc.constant([]),
  summaries: fc.constant([]),
  goesOn: fc.constant(false),
  faults: fc.array(FAULT, { maxLength: FAULTS_MAX }),
  schedule: fc.constant([]),
};

const PLANS: Readonly<Record<Mixture, fc.Arbitrary<CasePlan>>> = {
  plain: fc.record({
    ...COMMON,
    settings: settings(fc.constant(false)),
    tools: fc.array(PLAIN_TOOL, { minLength: 1, maxLength: 3 }),
    acts: fc.array(PLAIN_ACT, { minLength: 1, maxLength: 4 }),
  }),
  "one-lane": fc.record({
    ...COMMON,
    settings: settings(fc.boolean()),
    acts: fc.array(ACT, { minLength: 1, maxLength: 5 }),
    summaries: fc.array(SUMMARY, { maxLength: 3 }),
    goesOn: rarely,
  }),
  "several-lanes": fc.record({
    ...COMMON,
    settings: settings(fc.constant(false)),
    acts: fc.array(LANE_ACT, { minLength: 1, maxLength: 3 }),
    lanes: fc.array(fc.array(LANE_ACT, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    schedule: fc.array(fc.nat(2), { maxLength: 12 }),
  }),
};

/**
 * Shrinks the faults before anything else, their number first: what is left of a failure that was shrunk in part has no
 * fault too many, and each fault less makes every further try cheaper.
 */
class FaultsFirst extends fc.Arbitrary<CasePlan> {
  readonly #plans: fc.Arbitrary<CasePlan>;

  constructor(plans: fc.Arbitrary<CasePlan>) {
    super();
    this.#plans = plans;
  }

  generate(random: fc.Random, biasFactor: number | undefined): fc.Value<CasePlan> {
    return this.#plans.generate(random, biasFactor);
  }

  /** Every plan comes from here, with what shrinking needs to know of it. */
  canShrinkWithoutContext(_value: unknown): _value is CasePlan {
    return false;
  }

  shrink(plan: CasePlan, context: unknown): fc.Stream<fc.Value<CasePlan>> {
    const where = (holds: (faults: CasePlan["faults"]) => boolean) => {
      return this.#plans.shrink(plan, context).filter(({ value }) => holds(value.faults));
    };
    const { faults } = plan;
    // Members that do not shrink are handed on as they are.
    const fewer = where(({ length }) => length < faults.length);
    const others = where((found) => found !== faults && found.length === faults.length);
    return fewer.join(others).join(where((found) => found === faults));
  }
}

const FAULTS_FIRST: Readonly<Record<Mixture, fc.Arbitrary<CasePlan>>> = {
  plain: new FaultsFirst(PLANS.plain),
  "one-lane": new FaultsFirst(PLANS["one-lane"]),
  "several-lanes": new FaultsFirst(PLANS["several-lanes"]),
};

function settings(isTight: fc.Arbitrary<boolean>): fc.Arbitrary<CasePlan["settings"]> {
  return fc.record({
    parallelTools: fc.boolean(),
    steersAll: fc.boolean(),
    followsUpAll: fc.boolean(),
    retriesMax: fc.nat(2),
    isTight,
  });
}
