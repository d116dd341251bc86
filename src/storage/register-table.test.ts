import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RegisterTable } from "./register-table.ts";
import { StoredRegister } from "./stored-write.ts";

function register(key: string, seq: number): StoredRegister {
  const set = { namespace: "fact.custom" as const, key };
  return new StoredRegister(set, seq, { loose: { ...set, value: seq, seq } });
}

const key = fc.oneof(
  fc.constantFrom("", "a", "a\0", "ab", "\ud7ff", "\ue000", "\uffff", "\u{1f600}", "\u{1f600}a"),
  fc.string({ unit: "binary", maxLength: 2 }),
);
const action = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.record({ kind: fc.constant("list" as const), key }),
);

describe("the registers of a namespace", () => {
  it("list by prefix in order of UTF-16 code units, whatever was set and deleted between listings", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const table = new RegisterTable();
        const expected = new Map<string, number>();
        actions.forEach((each, seq) => {
          switch (each.kind) {
            case "set":
              table.set(register(each.key, seq));
              expected.set(each.key, seq);
              break;
            case "delete":
              table.delete(each.key);
              expected.delete(each.key);
              break;
            case "list": {
              const keys = [...expected.keys()].filter((own) => own.startsWith(each.key)).sort();
              const found = table.list(each.key);
              expect(found.map((row) => [row.key, row.seq])).toEqual(
                keys.map((own) => [own, expected.get(own)]),
              );
            }
          }
          expect(table.get(each.key)?.seq).toBe(expected.get(each.key));
        });
        expect(new Set(table.all().map((row) => row.key))).toEqual(new Set(expected.keys()));
      }),
      { numRuns: 300 },
    );
  });

  it("copy to a table that changes on its own", () => {
    const table = new RegisterTable();
    table.set(register("a", 1));
    table.list("");
    const copy = table.copy();
    copy.set(register("b", 2));
    table.delete("a");
    expect(copy.list("").map((row) => row.key)).toEqual(["a", "b"]);
    expect(table.list("")).toEqual([]);
  });
});
