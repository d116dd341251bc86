/** The shape of `crashproof-result/1`, as it was published: which members there are, and of which type. */

const GROUP = {
  kind: "string",
  scenario: "string",
  subject: "string",
  runs: "number",
  survived: "number",
  violated: "number",
  inconclusive: "number",
  perSecond: "number",
};

/** Of a result in which every array has an item, and everything that may be absent is there. */
export const RESULT_SHAPE = {
  schema: "string",
  version: "string",
  seed: "number",
  command: "string",
  elapsedMs: "number",
  totals: { runs: "number", survived: "number", violated: "number", inconclusive: "number" },
  coverage: {
    boundaries: { covered: "number", total: "number" },
    faults: { covered: "number", total: "number", recoveries: "number" },
    fired: [{ group: "string", fault: "string", fired: "number", total: "number" }],
    orders: { covered: "number", total: "number" },
    rows: { covered: "number", total: "number", missing: ["string"] },
  },
  recoveries: { deaths: "number", executed: "number", repeated: "number" },
  kills: { states: "number", kills: "number" },
  limits: [{ subject: "string", signature: "string", message: "string", runs: "number", example: "string" }],
  skipped: [{ scenario: "string", subject: "string", reason: "string" }],
  checkersOff: ["string"],
  notReached: ["string"],
  groups: [GROUP, { ...GROUP, unpromised: "number" }],
  failures: [
    {
      id: "string",
      verdict: "string",
      checker: "string",
      signature: "string",
      message: "string",
      repro: "string",
    },
  ],
};

/** The same where no real process was killed, no medium had a fault, nothing raced, and no limit was met. */
export const PLAIN_SHAPE = plain(RESULT_SHAPE);

function plain({ kills: _kills, limits: _limits, coverage, ...shape }: typeof RESULT_SHAPE) {
  const { faults: _faults, orders: _orders, ...covered } = coverage;
  return { ...shape, coverage: covered, groups: [GROUP] };
}

/** The names of types in the place of values; an array stands as the different shapes of its items. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((item) => [JSON.stringify(shapeOf(item)), shapeOf(item)]));
    return [...shapes.values()];
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}
