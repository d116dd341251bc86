/** The help says what there is, and the README says the same. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXIT } from "./exit.ts";
import { crashproof } from "./testing/command.ts";

const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

/** The help of the whole, and the commands that it names. */
async function overview() {
  const { code, out } = await crashproof("--help");
  const [, commandsText = ""] = out.split("\nCommands:\n");
  const commands = [...commandsText.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name);
  return { code, out, commands: commands.filter((name) => name !== "help") };
}

describe("the help", () => {
  it("names every command, the same ones as the README, and the meaning of every exit code", async () => {
    const { code, out, commands } = await overview();
    expect(code).toBe(EXIT.survived);
    const readme = file("README.md").split("\n## Commands\n")[1] ?? "";
    const documented = [...readme.matchAll(/^\| `crashproof \[?([a-z-]+)/gm)].map(([, name]) => name);
    expect(commands.sort()).toEqual(documented.sort());
    for (const exit of Object.values(EXIT)) expect(out).toMatch(new RegExp(`[:·] ${exit} `));
  });

  it("exists for every command, and says what holds without an option that may be given several times", async () => {
    const { commands } = await overview();
    expect(commands).toEqual(
      expect.arrayContaining(["run", "crash-points", "races", "repro", "list", "canaries"]),
    );
    for (const command of commands) {
      const { code, out } = await crashproof(command, "--help");
      expect(code).toBe(EXIT.survived);
      expect(out).toContain(`Usage: crashproof ${command}`);
      expect(out).not.toContain("[]");
    }
    const { out } = await crashproof("leases", "--help");
    expect(out.replaceAll(/\s+/g, " ")).toContain("(repeatable) (default: jsonl, sqlite, txlog)");
  });

  it("and the version come from the package", async () => {
    expect((await crashproof("--version")).out).toBe(
      `${(JSON.parse(file("package.json")) as { version: string }).version}\n`,
    );
  });
});
