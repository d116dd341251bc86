import { describe, expect, it } from "vitest";
import { sessions } from "../../fixtures/txlog/sessions.ts";
import { planRecovery } from "./planner.ts";
import { recordedProcess } from "./recorded-process.ts";
import { reduce } from "./reduction.ts";

describe("the process that wrote a session", () => {
  it.each(sessions.map(({ name, story }) => [name, story] as const))(
    "is blocked by nothing but two lost requests: %s",
    (_name, story) => {
      const reduction = reduce(story().bytes);
      if (!reduction.ok) throw new Error("the story is accepted");
      const point = reduction.value.live();
      const plan = planRecovery(point, recordedProcess(point.state));
      if (plan.type === "blocked") expect(plan.reason).toBe("attempts_exhausted");
    },
  );

  it("has declared a safe call safe and another one never", () => {
    const planOf = (name: string) => {
      const reduction = reduce(
        sessions.find((session) => session.name === name)?.story().bytes ?? Buffer.of(),
      );
      if (!reduction.ok) throw new Error("the story is accepted");
      const point = reduction.value.live();
      return planRecovery(point, recordedProcess(point.state));
    };
    expect(planOf("pending-safe-tool")).toMatchObject({ type: "startTool", mode: "replay" });
    expect(planOf("pending-never-tool")).toMatchObject({ type: "appendSynthetic" });
  });
});
