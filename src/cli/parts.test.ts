/** From the command line: an explorer that is killed loses nothing, and shards of one plan become its result. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "./exit.ts";
import { crashproof } from "./testing/command.ts";

const bin = fileURLToPath(new URL("./bin.js", import.meta.url));
const LINE = ["crash-points", "one-turn", "--no-times", "--subject", "memory", "--subject", "jsonl"];
const MORE = ["--subject", "txlog", "--workers", "1"];

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-parts-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The scratch folders of a process, wherever this machine has them. */
const scratchFoldersOf = (pid: number | undefined) =>
  ["/dev/shm", tmpdir()]
    .flatMap((place) => (existsSync(place) ? readdirSync(place) : []))
    .filter((name) => name.startsWith("crashproof-") && name.split("-")[2] === String(pid));

const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0);

describe("an explorer that is killed by kill -9", () => {
  it("takes up what it had finished, and finds what it would have found", async () => {
    const whole = await crashproof(...LINE, ...MORE, "--json", at("whole.json"));
    expect(whole.code).toBe(EXIT.survived);
    const line = [...LINE, ...MORE, "--checkpoint", at("checkpoint")];
    const child = spawn(process.execPath, [bin, ...line], { stdio: "ignore" });
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on("exit", (_code, signal) => resolve(signal)),
    );
    // The head and at least one unit; two more are to come.
    while (linesOf(at("checkpoint")) < 2) await sleep(2);
    child.kill("SIGKILL");
    expect(await ended).toBe("SIGKILL");
    // Beside it stands its lock, and no trace of how it was held.
    expect(readdirSync(folder).filter((file) => file.startsWith("checkpoint"))).toEqual([
      "checkpoint",
      "checkpoint.lock",
    ]);
    const finished = linesOf(at("checkpoint")) - 1;
    expect(finished).toBeLessThan(3);

    const again = await crashproof(...line, "--json", at("again.json"));
    expect(again.err).toContain(
      `finished ${finished === 1 ? "unit" : "units"} taken up from ${at("checkpoint")}\n`,
    );
    expect(readFileSync(at("again.json"), "utf8")).toBe(readFileSync(at("whole.json"), "utf8"));
  });
});

describe.each(["SIGINT", "SIGTERM"] as const)("an explorer that is ended by %s", (signal) => {
  it("ends by it, and leaves what it had finished and nothing else", async () => {
    const name = `${signal}-checkpoint`;
    const child = spawn(process.execPath, [bin, ...LINE, ...MORE, "--checkpoint", at(name)], {
      stdio: "ignore",
    });
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on("exit", (_code, by) => resolve(by)),
    );
    while (linesOf(at(name)) < 2) await sleep(2);
    expect(scratchFoldersOf(child.pid)).toHaveLength(1);
    child.kill(signal);
    expect(await ended).toBe(signal);
    expect(scratchFoldersOf(child.pid)).toEqual([]);
    expect(readdirSync(folder).filter((file) => file.startsWith(name))).toEqual([name, `${name}.lock`]);
  });
});

const CTRL_C = "\x03";
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const hasTerminals = spawnSync("script", ["--version"]).status === 0;

describe.runIf(hasTerminals)("Ctrl-C on a terminal", () => {
  it("gives the cursor back that the progress had hidden", async () => {
    const command = `${process.execPath} ${bin} ${[...LINE, ...MORE].join(" ")}`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"]);
    let shown = "";
    child.stdout.on("data", (data: Buffer) => {
      const before = shown;
      shown += String(data);
      if (shown.includes(" states") && !before.includes(" states")) child.stdin.write(CTRL_C);
    });
    const code = await new Promise((resolve) => child.on("exit", resolve));
    expect(code).toBe(128 + constants.signals.SIGINT);
    expect(shown.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDE_CURSOR));
    expect(shown).toContain(HIDE_CURSOR);
  });
});

describe("shards", () => {
  it("are merged into the bytes of the whole, and each says what it is", async () => {
    const files = [1, 2, 3, 4].map((index) => at(`shard-${index}.json`));
    for (const [place, file] of files.entries()) {
      const { code, out } = await crashproof(...LINE, ...MORE, "--shard", `${place + 1}/4`, "--json", file);
      expect(out).toMatch(new RegExp(`^shard ${place + 1}/4: [01] of 3 units; `, "m"));
      // Three units leave one of four shards with nothing to look at, which is never green.
      expect(code).toBe(out.includes("1 of 3") ? EXIT.survived : EXIT.inconclusive);
    }
    const merged = await crashproof("merge", ...files, "--no-times", "--json", at("merged.json"));
    expect(merged.code).toBe(EXIT.survived);
    expect(readFileSync(at("merged.json"), "utf8")).toBe(readFileSync(at("whole.json"), "utf8"));
  });
});
