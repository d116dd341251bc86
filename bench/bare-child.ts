/**
 * The floor of real kills: a child program that holds as many sessions of the same runtime on the same store, each
 * driven by hand to the same place and left there. Nothing names commits, keeps a ledger, or steps from boundary to
 * boundary; an open gate lets everything through until the session has crossed so many.
 *
 * It understands a batch as the toolkit's own child does, so that the same pool starts and kills it. A cut of the batch
 * says with its occurrence how many boundaries to cross.
 */
import { mkdirSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { Gate, Timeline, World } from "../src/faults/index.ts";
import { VirtualClock } from "../src/foundation/index.ts";
import { type Incarnation, subjectById } from "../src/subject/index.ts";
import { ANNOUNCE_DESCRIPTOR, type Batch, diskFolderOf, type ProgramHooks } from "../src/subprocess/index.ts";

export async function main(hooks: ProgramHooks): Promise<never> {
  writeSync(ANNOUNCE_DESCRIPTOR, "ready\n");
  const lines = createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0));
  const text = await new Promise<string>((resolve) => lines.once("line", resolve));
  const sessions = await holdAll(JSON.parse(text) as Batch);
  hooks.warmed();
  writeSync(ANNOUNCE_DESCRIPTOR, "all\n");
  return new Promise(() => sessions);
}

async function holdAll({ scenarios, sessions, notesPath }: Batch): Promise<Incarnation[]> {
  const held: Incarnation[] = [];
  const notes = openSync(notesPath, "a");
  for (const [session, { subject: id, scenario: place, seed, cut, folder }] of sessions.entries()) {
    const subject = subjectById(id);
    const scenario = scenarios[place];
    if (subject === undefined || scenario === undefined) throw new Error(`no session of ${id}`);
    mkdirSync(diskFolderOf(folder), { recursive: true });
    const disk = await subject.provision({ seed, folder: diskFolderOf(folder) });
    const gate = new Gate({ open: true });
    let arrivedCount = 0;
    gate.open(() => arrivedCount++ === cut.occurrence);
    const life = subject.boot({
      disk,
      world: new World(scenario, new VirtualClock()),
      scenario,
      seed,
      incarnation: 0,
      gate,
      timeline: new Timeline(),
      drive: "automatic",
      isNamed: false,
    });
    await gate.quiet(life.life);
    held.push(life);
    writeSync(notes, `${JSON.stringify({ kind: "parked", session })}\n`);
  }
  return held;
}
