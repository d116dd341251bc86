/** Values: what JSON can carry comes back equal; what it cannot is refused with its place (contract: refusals; spec §1.1). */
import assert from "node:assert/strict";
import type { JsonValue, Write } from "../../src/model/index.ts";
import { type Clause, type ClauseGroup, everywhere, live } from "./clause.ts";
import { invalid, notJson } from "./refusal.ts";
import { branchSummary, compaction, custom, fact, id, message, set, tokens, usage } from "./samples.ts";

/** Texts that some layer between a caller and a medium is known to change, split or cut. */
const TRAPS: Readonly<Record<string, string>> = {
  "the empty text": "",
  NUL: "a\u0000b\u0000",
  "line ends": "a\rb\nc\r\nd\n",
  "the separators U+2028 and U+2029": "a\u2028b\u2029c",
  "next line and form feed": "a\u0085b\fc\u000bd",
  "a byte order mark at the start and inside": "\ufeffa\ufeffb",
  "control characters and DEL": "\u0001\u001f\u007f\u009f",
  "text beyond the basic plane": "\u{1f600}\u{10ffff}\u{20000}",
  "decomposed and composed forms": "e\u0301 \u00e9 \u1e9b\u0323",
  "quotes and backslashes": "\"'`\\\\n\\u0000",
  "what looks like JSON": '{"a":[1,"\\u0000"]}\n{"kind":"header"}',
  "noncharacters and the replacement character": "\ufffe\uffff\ufffd",
  "right-to-left and zero-width marks": "\u202e\u200d\u200b",
};

const NUMBERS = [
  0,
  1,
  -1,
  0.1,
  1e21,
  1e-7,
  5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53 + 2,
  2 ** 63,
];

/** Values outside the domain, each under `at`, the pointer inside the value. */
function outside(): readonly { what: string; value: unknown; at: string }[] {
  const cycle: Record<string, unknown> = {};
  cycle.self = [cycle];
  const hole: unknown[] = [1, 2, 3];
  delete hole[1];
  return [
    { what: "undefined", value: undefined, at: "" },
    { what: "undefined in an object", value: { a: { b: undefined } }, at: "/a/b" },
    { what: "undefined in an array", value: [1, undefined], at: "/1" },
    { what: "a hole in an array", value: { list: hole }, at: "/list/1" },
    { what: "NaN", value: [Number.NaN], at: "/0" },
    { what: "Infinity", value: { n: Number.POSITIVE_INFINITY }, at: "/n" },
    { what: "-Infinity", value: Number.NEGATIVE_INFINITY, at: "" },
    { what: "-0", value: { n: -0 }, at: "/n" },
    { what: "a bigint", value: { n: 1n }, at: "/n" },
    { what: "a symbol", value: [Symbol("s")], at: "/0" },
    { what: "a function", value: { f: () => 1 }, at: "/f" },
    { what: "a high surrogate alone", value: ["\ud83d"], at: "/0" },
    { what: "a low surrogate alone", value: { s: "a\ude00b" }, at: "/s" },
    { what: "surrogates in the wrong order", value: "\ude00\ud83d", at: "" },
    { what: "a lone surrogate in a key", value: { o: { "\ud83d": 1 } }, at: "/o" },
    { what: "a cycle", value: { c: cycle }, at: "/c/self/0" },
    { what: "a date", value: { at: new Date(0) }, at: "/at" },
    { what: "a map", value: new Map([["a", 1]]), at: "" },
    { what: "bytes", value: [new Uint8Array(2)], at: "/0" },
    { what: "an object of a class", value: { o: new (class Thing {})() }, at: "/o" },
    { what: "a key with ~ and /", value: { "a/b~": { "": Number.NaN } }, at: "/a~1b~0/" },
  ];
}

/** Every place of a transaction that carries a caller's JSON, as a write around a value. */
const PLACES: readonly { at: string; write: (value: unknown) => unknown }[] = [
  { at: "/value", write: (value) => ({ ...fact("k", 1), value }) },
  { at: "/entry/data", write: (data) => ({ kind: "entry", entry: { ...custom(id(20), null).entry, data } }) },
  {
    at: "/entry/details",
    write: (details) => ({ kind: "entry", entry: { ...compaction(id(20), null).entry, details } }),
  },
  { at: "/row/details", write: (details) => ({ kind: "usage", row: { ...usage(id(20), {}).row, details } }) },
];

function refusedOutsideJson({ what, at }: { what: string; at: string }, index: number): Clause {
  return live(
    `refuses ${what}, with its path, and writes nothing`,
    "contract: refusals; spec §1.1",
    async (trial) => {
      await trial.commit(fact("k", "before"));
      for (const place of PLACES) {
        const { value } = outside()[index] ?? {};
        const writes = [message(id(10), null), fact("k", "after"), place.write(value)];
        await trial.refuse({ writes }, notJson(`/writes/2${place.at}${at}`));
      }
    },
  );
}

export const values: ClauseGroup = {
  group: "values",
  clauses: [
    everywhere("gives back every kind of entry as it was committed", "spec §2.1", async (trial) => {
      await trial.commit(
        message(id(1), null),
        {
          kind: "entry",
          entry: {
            type: "message",
            id: id(2),
            parentId: id(1),
            terminate: true,
            message: {
              role: "toolResult",
              toolCallId: "call_1",
              toolName: "read",
              content: [{ type: "text", text: "done" }],
              details: { nested: [{ deep: [null, false, 0, ""] }] },
              isError: false,
              timestamp: 1.5,
            },
          },
        },
        compaction(id(3), id(2)),
        branchSummary(id(4), id(3), id(1)),
        custom(id(5), id(4), "note", { any: [1, null] }),
      );
      await trial.revisit();
      await trial.agrees();
    }),

    everywhere("tells a custom entry with data null from one without data", "spec §2.1", async (trial) => {
      await trial.commit(custom(id(1), null, "note", null), custom(id(2), null, "note"));
      const found = await (await trial.revisit()).getEntries([id(1), id(2)]);
      assert.deepEqual(
        Object.entries(found.get(id(1)) ?? {}).filter(([name]) => name === "data"),
        [["data", null]],
      );
      assert.ok(!("data" in (found.get(id(2)) ?? { data: 0 })), "the entry without data must have no data");
      await trial.agrees();
    }),

    everywhere(
      "gives back usage rows as they were committed, optional fields present or absent",
      "spec §1.6",
      async (trial) => {
        await trial.commit(
          message(id(9), null),
          usage(id(1), { input: 12, output: 3, cost: { ...tokens({}).cost, input: 0.25, total: 0.25 } }),
          usage(id(2), { cacheWrite: 4, cacheWrite1h: 3, reasoning: 0 }, { entryId: id(9), details: null }),
          usage(id(3), { input: -5 }, { adjustment: true, details: { why: ["refund", null] } }),
        );
        await trial.revisit();
        await trial.agrees();
      },
    ),

    everywhere("gives back every register value as it was committed", "spec §1.3", async (trial) => {
      const model = { provider: "acme", modelId: "large" };
      await trial.commit(
        set("lane.leaf", "main", id(1)),
        set("lane.config", "main", { model, thinkingLevel: "off", activeToolNames: ["read", "write"] }),
        set("op.tool_args", `${id(1)}:${id(2)}:0`, { path: "a.txt", options: { deep: [[[]]] } }),
        set("pending.entry", id(3), { type: "custom", customType: "note", payload: null }),
        set("pending.entry", id(4), { type: "custom", customType: "note" }),
        set("fact.name", "", "a session"),
        set("fact.label", id(1), "a label"),
      );
      await trial.revisit();
      await trial.agrees();
    }),

    ...Object.entries(TRAPS).map(([what, text]) =>
      everywhere(`keeps ${what} in messages, values, keys and names`, "spec §1.1", async (trial) => {
        const writes: Write[] = [
          message(id(1), null, text),
          message(id(2), id(1), `${text}${text}`),
          custom(id(3), id(2), `type ${text}`, { [text]: [text, { [`${text}.`]: text }] }),
          fact(text, text),
          fact(`key ${text}`, { [text]: text }),
          set("fact.name", "", text),
          usage(id(4), {}, { details: { [text]: text } }),
        ];
        await trial.commit(...writes);
        const storage = await trial.revisit();
        const typed = await storage.scanEntries({ customType: `type ${text}` });
        assert.deepEqual(
          typed.map((entry) => entry.id),
          [id(3)],
        );
        assert.equal((await storage.getRegister("fact.custom", text))?.value, text);
        await trial.agrees();
      }),
    ),

    everywhere("keeps numbers to the last bit", "spec §1.1", async (trial) => {
      await trial.commit(fact("numbers", NUMBERS), ...NUMBERS.map((number) => fact(`n${number}`, number)));
      await trial.revisit();
      await trial.agrees();
    }),

    everywhere(
      "keeps a text of a million characters, of one byte and of four bytes each",
      "spec §1.1",
      async (trial) => {
        const narrow = "x".repeat(2 ** 20);
        const wide = "\u{1f600}".repeat(2 ** 18);
        await trial.commit(message(id(1), null, narrow), fact("wide", wide));
        const storage = await trial.revisit();
        const entry = (await storage.getEntries([id(1)])).get(id(1));
        // Compared with ===, so that a failure does not print a megabyte.
        const content =
          entry?.type === "message" && entry.message.role === "user" ? entry.message.content : "";
        assert.ok(content === narrow, `the text of 1 MiB came back with ${content.length} characters`);
        const value = (await storage.getRegister("fact.custom", "wide"))?.value;
        assert.ok(value === wide, `the wide text came back as ${typeof value} of another content`);
      },
    ),

    everywhere("keeps members that are named like parts of an object", "spec §1.1", async (trial) => {
      const text =
        '{"__proto__":{"admin":true},"constructor":1,"toString":null,"hasOwnProperty":[],"":0,"10":1,"9":2}';
      await trial.commit(
        fact("k", JSON.parse(text) as JsonValue),
        fact("__proto__", 1),
        fact("constructor", 2),
      );
      const value = (await (await trial.revisit()).getRegister("fact.custom", "k"))?.value;
      assert.deepEqual(Object.keys(value ?? {}).sort(), Object.keys(JSON.parse(text)).sort());
      await trial.agrees();
    }),

    everywhere("keeps a value that is nested 400 levels deep", "spec §1.1", async (trial) => {
      const text = `${"[".repeat(200)}${'{"a":'.repeat(200)}1${"}".repeat(200)}${"]".repeat(200)}`;
      await trial.commit(fact("deep", JSON.parse(text) as JsonValue));
      const value = (await (await trial.revisit()).getRegister("fact.custom", "deep"))?.value;
      assert.equal(JSON.stringify(value), text);
    }),

    ...outside().map(refusedOutsideJson),

    live("refuses a lone surrogate in a key or an id", "contract: refusals; spec §1.1", async (trial) => {
      await trial.refuse({ writes: [fact("\ud83d", 1)] }, notJson("/writes/0/key"));
      await trial.refuse({ writes: [message("\ud83d", null)] }, notJson("/writes/0/entry/id"));
      await trial.refuse({ writes: [custom(id(1), null, "\ude00")] }, notJson("/writes/0/entry/customType"));
    }),

    live(
      "reports a value outside JSON before anything else that is wrong",
      "contract: order of refusals",
      async (trial) => {
        await trial.commit(message(id(1), null));
        const writes = [message(id(1), null), message(id(2), id(99)), fact("k", Number.NaN)];
        await trial.refuse({ writes }, notJson("/writes/2/value"));
        await trial.refuse({ writes: writes.slice(0, 1) }, invalid("duplicate_id", 0));
      },
    ),
  ],
};
