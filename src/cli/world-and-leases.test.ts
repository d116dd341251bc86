/** The commands of a misbehaving world and of processes that want one session. */
import { describe, expect, it } from "vitest";
import { crashproof } from "./testing/command.ts";

describe("crashproof world-faults", () => {
  it("lets one kind of fault happen, and counts it", async () => {
    const { code, out } = await crashproof(
      ..."world-faults one-turn --subject memory --kind reply-hangs --occurrences 1 --deaths 1 --quiet".split(
        " ",
      ),
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^world-faults +one-turn +memory +2 +2 +0 +0/m);
    expect(out).toContain("\n  world-faults: reply-hangs 2\n");
  });

  it("is in doubt of a kind that has no place in the scenario", async () => {
    const line = "world-faults one-turn --subject memory --kind tool-hangs --quiet";
    const { code, out } = await crashproof(...line.split(" "));
    expect(code).toBe(3);
    expect(out).toContain("inconclusive explorer: fault-not-fired");
  });

  it("lists the kinds of a subject", async () => {
    const { code, out } = await crashproof("world-faults", "--list", "--subject", "txlog");
    expect(code).toBe(0);
    expect(out).toMatch(/^txlog +reply-malformed\.calls-alike$/m);
  });
});

describe("crashproof leases", () => {
  it("makes rounds in workers, and says what nobody promises", async () => {
    const line =
      "leases --subject sqlite --subject jsonl --rounds 1 --processes 2 --commits 1 --workers 2 --quiet";
    const { code, out } = await crashproof(...line.split(" "));
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(out).toContain(
      "\n  lease: resume 1, stopped-held 1, stopped-released 1, race 1, second-opener 1\n",
    );
    expect(out).toContain("not promised by jsonl: second opener is let in");
  });
});
