/**
 * A subject for the tests of this room: a notebook of lines in one file, small enough to be seen through.
 *
 * Each stimulus of the scenario is one turn: commit `note.ask`, one request to the world, commit `note.answer`. A
 * commit is one line with a line feed, so it can be torn at any byte. A prompt may ask for trouble: `hang`, `spin`,
 * `exit` and `throw` do so before their turn, as a subject does that does not behave.
 */
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startAll } from "../checkers/index.ts";
import { stopsIn } from "../faults/index.ts";
import type { Boot, Disk, Incarnation, Subject, TornDisk } from "../subject/index.ts";

const PREFIX = "notebook-";
const LAST_TEAR_BYTES = 3;

/** One notebook in a folder of its own. */
class NotebookDisk implements Disk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static create(parent: string): NotebookDisk {
    const disk = new NotebookDisk(mkdtempSync(join(parent, PREFIX)));
    writeFileSync(disk.file, "");
    return disk;
  }

  static attach(parent: string): NotebookDisk | undefined {
    const name = readdirSync(parent).find((item) => item.startsWith(PREFIX));
    return name === undefined ? undefined : new NotebookDisk(join(parent, name));
  }

  get file(): string {
    return join(this.folder, "notes");
  }

  fork(parent: string): NotebookDisk {
    const copy = NotebookDisk.create(parent);
    copyFileSync(this.file, copy.file);
    return copy;
  }

  size(): number {
    return statSync(this.file).size;
  }

  tear(sizeBefore: number, parent: string): readonly TornDisk[] {
    const make = (bytesWritten: number) => {
      const disk = this.fork(parent);
      truncateSync(disk.file, sizeBefore + bytesWritten);
      return disk;
    };
    return [1, LAST_TEAR_BYTES].map((bytesWritten) => ({ bytesWritten, make: () => make(bytesWritten) }));
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a notebook does otherwise than it should. */
export interface Flaws {
  /** Makes another line of a line. */
  readonly line?: (line: string) => string;
  /** Asks everything twice. */
  readonly asksTwice?: true;
}

/** The subject; see the module header. */
export function notebook(id: string, flaws: Flaws = {}): Subject {
  return {
    id,
    title: "a notebook of lines in one file",
    grade: "process-crash",
    rows: ["note.ask", "note.answer"],
    drives: ["automatic"],
    family: "notebook",
    provision: async ({ folder }) => NotebookDisk.create(folder),
    attach: (folder) => NotebookDisk.attach(folder),
    boot: (boot) => live(boot, flaws),
    view: async (disk) => {
      const text = readFileSync((disk as NotebookDisk).file, "utf8");
      return { exact: text, canonical: text };
    },
    judge: () => startAll([], undefined),
    expect: async ({ uninterrupted }) => ({ canonical: uninterrupted.canonical, demands: [] }),
  };
}

function live(boot: Boot, flaws: Flaws): Incarnation {
  return { life: run(boot, flaws), drop: () => undefined, close: async () => undefined };
}

async function run(boot: Boot, { line = (text) => text, asksTwice }: Flaws): Promise<void> {
  const { disk, world, scenario, gate, timeline, mediumStop } = boot;
  const { file } = disk as NotebookDisk;
  const commit = (label: string, text: string) =>
    gate.pass("commit", label, (boundary) => {
      const bytes = Buffer.from(`${line(`${label} ${text}`)}\n`);
      if (!stopsIn(mediumStop, boundary)) return appendFileSync(file, bytes);
      appendFileSync(file, bytes.subarray(0, mediumStop.bytesWritten));
      mediumStop.reached();
      return new Promise<void>(() => undefined);
    });
  const texts = scenario.stimuli.flatMap((stimulus) => ("text" in stimulus ? [stimulus.text] : []));
  for (const [turn, text] of texts.entries()) {
    if (text === "hang") await new Promise(() => undefined);
    if (text === "spin") for (;;);
    if (text === "exit") process.exit(7);
    if (text === "throw") throw new Error("the notebook refuses");
    await commit("note.ask", text);
    if (asksTwice) await world.request({ gate, timeline }, turn, 1);
    const answer = await world.request({ gate, timeline }, turn, 1);
    await commit("note.answer", answer.text ?? "");
  }
}
