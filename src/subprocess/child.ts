/**
 * The child: takes one batch, parks every session at its own boundary, says so, and waits for death.
 *
 * Sessions are walked one after another, so that a session that takes the process down is the first one that was not
 * noted: the parent needs no guess. A child never ends by itself, except when its parent is gone.
 */
import { openSync, writeSync } from "node:fs";
import { type Clock, RealClock } from "../foundation/index.ts";
import type { Subject } from "../subject/index.ts";
import { type Parked, park } from "./park.ts";
import { ANNOUNCE_DESCRIPTOR, type Announcement, type Batch, type Doubt, type Note } from "./protocol.ts";
import { Provisioner } from "./provision.ts";

/** How a child finds the subjects that it is asked for. */
export type SubjectRegistry = (id: string) => Subject | undefined;

/** What the launcher of a child offers its program; see `launch.ts`. */
export interface ProgramHooks {
  /** To be called when the program has done all that it ever does: what was compiled until then can be kept. */
  warmed(): void;
}

/** Runs the child over the process's own pipes. Never settles: see the module header. */
export async function runChild(subjects: SubjectRegistry, hooks: ProgramHooks): Promise<never> {
  announce("ready");
  const parked = await parkAll(await firstLine(process.stdin), subjects, new RealClock());
  hooks.warmed();
  announce("all");
  return new Promise(() => parked);
}

async function parkAll(line: string, subjects: SubjectRegistry, clock: Clock): Promise<readonly Parked[]> {
  const { scenarios, sessions, notesPath, walkLimitMs } = JSON.parse(line) as Batch;
  const notes = openSync(notesPath, "a");
  const provisioner = new Provisioner();
  const all: Parked[] = [];
  for (const [session, { subject: id, scenario: place, seed, cut, folder }] of sessions.entries()) {
    const subject = subjects(id);
    const scenario = scenarios[place];
    const outcome =
      subject === undefined || scenario === undefined
        ? { signature: "unknown-subject", message: `the child program knows no subject ${id}` }
        : await parkOne({ subject, provisioner, scenario, seed, cut, folder }, clock, walkLimitMs);
    if ("signature" in outcome) {
      note(notes, { kind: "unreached", session, doubt: outcome });
    } else {
      all.push(outcome);
      note(notes, { kind: "parked", session });
    }
  }
  return all;
}

async function parkOne(...[session, clock, limitMs]: Parameters<typeof park>): Promise<Parked | Doubt> {
  try {
    return await park(session, clock, limitMs);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
    return { signature: `refused:${name}`, message: `the session could not begin: ${name}: ${message}` };
  }
}

function note(notes: number, noted: Note): void {
  writeSync(notes, `${JSON.stringify(noted)}\n`);
}

function announce(announcement: Announcement): void {
  writeSync(ANNOUNCE_DESCRIPTOR, `${announcement}\n`);
}

/** The first line of a stream, which goes on being read: its end is the end of the process. */
function firstLine(stream: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      chunks.push(chunk);
      if (chunk.includes("\n")) resolve(chunks.splice(0).join(""));
    });
    stream.on("end", () => process.exit(0));
  });
}
