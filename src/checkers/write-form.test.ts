/** Every form of a write is a bit of its own. */
import { expect, it } from "vitest";
import { REGISTER_NAMESPACES, type Write } from "../model/index.ts";
import { drop, set } from "./testing/values.ts";
import { formSetOf, formsIn, WRITE_FORMS } from "./write-form.ts";

it("has a bit for each form, and one number for all of them", () => {
  expect(new Set(WRITE_FORMS.map((form) => formSetOf([form]))).size).toBe(WRITE_FORMS.length);
  expect(formSetOf(WRITE_FORMS)).toBe(2 ** WRITE_FORMS.length - 1);
});

it("finds the form of every write", () => {
  const registers = REGISTER_NAMESPACES.flatMap((namespace): Write[] => [
    set(namespace, "key", null as never),
    drop(namespace, "key"),
  ]);
  for (const write of registers) {
    if (write.kind !== "register") throw new Error("a register write was made");
    expect(formsIn([write])).toBe(formSetOf([`${write.op} ${write.namespace}`]));
  }
  const entry: Write = {
    kind: "entry",
    entry: { type: "custom", customType: "note", id: "e1", parentId: null },
  };
  expect(formsIn([entry])).toBe(formSetOf(["entry"]));
  expect(formsIn([entry, ...registers])).toBe(formSetOf(WRITE_FORMS.filter((form) => form !== "usage")));
});
