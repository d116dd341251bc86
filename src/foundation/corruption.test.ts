import { describe, expect, it } from "vitest";
import { Corruption } from "./index.ts";

describe("Corruption", () => {
  it("says the place first, then what is wrong, then the reason that code can match", () => {
    const place = { file: "s.jsonl", line: 3, byteOffset: 117, subject: "op.state/op_1" };
    const corruption = new Corruption("seq_not_rising", "seq 4 follows 7", place);
    expect(corruption.message).toBe(
      "s.jsonl, line 3, byte 117, op.state/op_1: seq 4 follows 7 [seq_not_rising]",
    );
    expect(corruption).toBeInstanceOf(Error);
    expect([corruption.name, corruption.code, corruption.reason]).toEqual([
      "Corruption",
      "CORRUPTION",
      "seq_not_rising",
    ]);
    expect(corruption.place).toEqual(place);
  });

  it("leaves out what is not known of the place; byte 0 is known", () => {
    expect(new Corruption("torn", "cut short").message).toBe("cut short [torn]");
    expect(new Corruption("torn", "cut short", { byteOffset: 0 }).message).toBe("byte 0: cut short [torn]");
  });
});
