/** The shape of `crashproof-result/1`, as it was published: which members there are, and of which type. */

/** Of a result in which every array has an item, and real processes were killed. */
export const RESULT_SHAPE = {
  schema: "string",
  version: "string",
  seed: "number",
  command: "string",
  elapsedMs: "number",
  totals: { runs: "number", survived: "number", violated: "number", inconclusive: "number" },
  coverage: {
    boundaries: { covered: "number", total: "number" },
    rows: { covered: "number", total: "number", missing: ["string"] },
  },
  recoveries: { deaths: "number", executed: "number", repeated: "number" },
  kills: { states: "number", kills: "number" },
  skipped: [{ scenario: "string", subject: "string", reason: "string" }],
  checkersOff: ["string"],
  notReached: ["string"],
  groups: [
    {
      kind: "string",
      scenario: "string",
      subject: "string",
      runs: "number",
      survived: "number",
      violated: "number",
      inconclusive: "number",
      perSecond: "number",
    },
  ],
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

/** The names of types in the place of values; an array stands as the different shapes of its items. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((item) => [JSON.stringify(shapeOf(item)), shapeOf(item)]));
    return [...shapes.values()];
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}
