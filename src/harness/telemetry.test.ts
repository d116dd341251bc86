/** Spans: what is within what, what is said, and that nothing of what was said is in them. */
import { describe, expect, it } from "vitest";
import type { TelemetryContext, TelemetrySpan } from "./telemetry.ts";
import { calls, failure, text, World } from "./testing/scripted.ts";

interface Recorded {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  readonly children: Recorded[];
  isEnded: boolean;
}

/** A context that keeps every span. */
function recording(): { context: TelemetryContext; roots: Recorded[] } {
  const roots: Recorded[] = [];
  const contextOf = (children: Recorded[]): TelemetryContext => ({
    start: (name, attributes) => {
      const span: Recorded = { name, attributes: { ...attributes }, children: [], isEnded: false };
      children.push(span);
      return {
        ...contextOf(span.children),
        end: (known = {}) => {
          expect(span.isEnded, `${name} ends once`).toBe(false);
          span.isEnded = true;
          Object.assign(span.attributes, known);
        },
      } as TelemetrySpan;
    },
  });
  return { context: contextOf(roots), roots };
}

const all = (spans: readonly Recorded[]): Recorded[] =>
  spans.flatMap((span) => [span, ...all(span.children)]);
const short = (name: string) => name.replace(/^pi\.(harness|ai|session)\./, "");
/** `run(checkpoint(write) turn(step(request) …))`. */
const shape = ({ name, children }: Recorded): string =>
  children.length === 0 ? short(name) : `${short(name)}(${children.map(shape).join(" ")})`;

describe("the spans of a run", () => {
  it("are nested like its steps, and all of them end", async () => {
    const { context, roots } = recording();
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await world.boot({ tools: [world.tool("read")], telemetryContext: context });
    harness.hooks.on("before_tool", () => undefined);
    harness.hooks.on("after_response", () => undefined);
    harness.events.on("tool_start", () => undefined);
    harness.events.on("run_end", () => undefined);
    await harness.prompt("go");
    const step = "step(request hook)";
    expect(roots.map(({ name }) => short(name))).toEqual(["write", "run"]);
    const run = roots[1] as Recorded;
    expect(run.children.map(({ name }) => short(name))).toEqual([
      "checkpoint",
      "turn",
      "checkpoint",
      "turn",
      "write",
      "event_handler",
    ]);
    const [first, second] = run.children.filter(({ name }) => name === "pi.harness.turn");
    expect(first && shape(first)).toBe(`turn(write ${step} write hook write event_handler tool write)`);
    expect(second && shape(second)).toBe(`turn(write ${step} write)`);
    expect(all(roots).filter(({ isEnded }) => !isEnded)).toEqual([]);
    expect(run.attributes).toMatchObject({ "pi.harness.lane": "main", "pi.harness.outcome": "completed" });
    const [request] = all(roots).filter(({ name }) => name === "pi.ai.request");
    expect(request?.attributes).toMatchObject({
      "pi.ai.provider": "acme",
      "pi.ai.stop_reason": "toolUse",
      "pi.ai.input_tokens": 10,
    });
    const [write] = all(roots).filter(({ name }) => name === "pi.session.write");
    expect(write?.attributes).toMatchObject({
      "pi.session.item_count": 5,
      "pi.session.item_kinds": "entry,register",
    });
  });

  it("are as many as the transactions, and none where nothing was written or executed", async () => {
    const { context, roots } = recording();
    const world = new World([failure("overloaded"), calls({ id: "c1", name: "unknown" })], text("done"));
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 7 };
    const { harness } = await world.boot({ telemetryContext: context, retry });
    const before = world.commitCount;
    await harness.prompt("go");
    const named = (name: string) => all(roots).filter((span) => span.name === name);
    expect(named("pi.session.write")).toHaveLength(world.commitCount - before);
    expect(named("pi.ai.request")).toHaveLength(3);
    expect(named("pi.harness.tool")).toEqual([]);
    expect(named("pi.harness.sleep").map(({ attributes }) => attributes)).toEqual([
      { "pi.harness.delay_ms": 7 },
    ]);
    expect(named("pi.harness.step").map(({ attributes }) => attributes["pi.harness.attempt"])).toEqual([
      1, 2, 1,
    ]);
  });

  it("hold nothing of what was said", async () => {
    const { context, roots } = recording();
    const world = new World(calls({ id: "c1", name: "read", args: { path: "SECRET" } }), text("SECRET"));
    const read = world.tool("read", {
      execute: async () => ({ content: [{ type: "text", text: "SECRET" }], details: { SECRET: 1 } }),
    });
    const streamOptions = { headers: { authorization: "SECRET" }, metadata: { user: "SECRET" } };
    const { harness } = await world.boot({
      telemetryContext: context,
      tools: [read],
      systemPrompt: "SECRET",
      streamOptions,
    });
    harness.events.on("entry_added", () => {
      throw new Error("SECRET");
    });
    harness.hooks.on("after_tool", () => {
      throw new Error("SECRET");
    });
    await harness.prompt("SECRET");
    expect(all(roots).length).toBeGreaterThan(20);
    expect(JSON.stringify(roots)).not.toContain("SECRET");
  });

  it("cannot fail anything", async () => {
    const broken = (): TelemetrySpan => ({
      start: () => {
        throw new Error("telemetry is down");
      },
      end: () => {
        throw new Error("telemetry is down");
      },
    });
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const options = { tools: [world.tool("read")], telemetryContext: { start: broken } };
    const { harness } = await world.boot(options);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
  });
});
