/**
 * New disks for many sessions: each subject provisions one for a seed, and the others are copies of its files.
 *
 * Making a session from nothing costs some stores more than the whole walk (a database has its tables made), and a new
 * disk is the same every time. What another process can attach is, by the contract, all in its folder, so copying the
 * files is making a disk.
 */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Disk, Subject } from "../subject/index.ts";

/** See the module header. */
export class Provisioner {
  /** Subject and seed → the folder of the disk that is copied. Nothing has ever been opened on it. */
  readonly #templates = new Map<string, string>();

  /** A new disk in a new folder, which must not exist. */
  async provision(subject: Subject, seed: number, folder: string): Promise<Disk> {
    mkdirSync(folder, { recursive: true });
    const name = `${subject.id} ${seed}`;
    const template = this.#templates.get(name);
    if (template !== undefined) {
      copyFolder(template, folder);
      const disk = subject.attach(folder);
      if (disk !== undefined) return disk;
    }
    const disk = await subject.provision({ seed, folder });
    const copy = `${folder}.new`;
    copyFolder(folder, copy);
    this.#templates.set(name, copy);
    return disk;
  }
}

/** Copies a folder, files and all. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const item of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, item.name), join(to, item.name)];
    if (item.isDirectory()) copyFolder(source, target);
    else copyFileSync(source, target);
  }
}
