import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import { FileLedger, readLedger } from "./file-ledger.ts";
import type { WorldRow } from "./world-row.ts";

const request: WorldRow = { kind: "request", turn: 0, ask: 1, usage: { input: 3, output: 5 } };
const tool: WorldRow = { kind: "tool", tool: "write", callId: "c1", argumentsText: '{"path":"ä\\n"}' };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-ledger-"));
  path = join(folder, "world.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the rows of a world in a file", () => {
  it("are in the file when append returns, and in the next process that opens it", () => {
    const ledger = new FileLedger(path);
    ledger.append(request);
    expect(readLedger(path)).toEqual([request]);
    ledger.append(tool);
    expect(readLedger(path)).toEqual([request, tool]);
    ledger.close();
    const again = new FileLedger(path);
    expect(again.rows).toEqual([request, tool]);
    again.append(request);
    again.close();
    expect(readLedger(path)).toEqual([request, tool, request]);
  });

  it("do not count a last line that was not finished; reading leaves it, appending cuts it off", () => {
    writeFileSync(path, `${JSON.stringify(request)}\n{"kind":"tool","to`);
    const before = readFileSync(path, "utf8");
    expect(readLedger(path)).toEqual([request]);
    expect(readFileSync(path, "utf8")).toBe(before);
    const ledger = new FileLedger(path);
    ledger.append(tool);
    ledger.close();
    expect(readLedger(path)).toEqual([request, tool]);
  });

  it("are none where no file is", () => {
    expect(readLedger(path)).toEqual([]);
  });

  it.each(["no json", "[]", "null", '{"kind":"other"}'])(
    "refuse the complete line %s, and say where",
    (line) => {
      writeFileSync(path, `${JSON.stringify(request)}\n`);
      appendFileSync(path, `${line}\n`);
      expect(() => readLedger(path)).toThrow(Corruption);
      expect(() => new FileLedger(path)).toThrow(/world\.jsonl, line 2, byte \d+: .*\[world-row\]/);
    },
  );
});
