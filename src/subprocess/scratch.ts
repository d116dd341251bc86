/**
 * Scratch folders: where disks of a run are, on a memory file system if the machine has one.
 *
 * A kill leaves what the operating system has taken from the process, whatever medium it is on; only loss of power
 * asks for a real disk. So memory serves, and is several times as fast.
 *
 * A folder is named after its owner: `crashproof-<world>-<process id>-<start time>-<random>`, where *world* stands for
 * this boot of this machine and this process namespace, and the start time is the kernel's, so that a later process
 * of the same id is told apart.
 *
 * Invariants.
 * 1. A folder is removed by its owner: when it is told to, or when its process exits.
 * 2. What an owner left that was killed is swept by the next run. A folder is swept only if it is this user's, its
 *    name says this world, and no process of that id and start time lives. All others are left alone.
 * 3. Who asks {@link assertRoom} after each run is told of a full disk before a verdict is taken from it.
 */
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is empty at first and gone at the end. */
export interface Scratch {
  readonly folder: string;
  readonly isInMemory: boolean;
  /** Removes the folder with all that is in it. */
  remove(): void;
}

const PREFIX = "crashproof-";
const MEGABYTE = 1024 * 1024;
/** The file system type of tmpfs, as `statfs` reports it. */
const TMPFS_TYPE = 0x01021994;
/** Less room than this on a memory file system is not used: a full one looks like a failing disk. */
const ROOM_MIN_BYTES = 512 * MEGABYTE;

/** Less room than this for what is explored is taken for none: the next file may be the one that does not fit. */
const ROOM_LEFT_MIN_BYTES = 32 * MEGABYTE;

/**
 * Throws where a folder has hardly any room left: a failure of the system cannot be told from one of a full disk then.
 */
export function assertRoom(folder: string, leastBytes = ROOM_LEFT_MIN_BYTES): void {
  const roomBytes = roomOf(folder);
  if (roomBytes === undefined || roomBytes >= leastBytes) return;
  const wanted = `${Math.ceil(leastBytes / MEGABYTE)} MB`;
  throw new Error(
    `less than ${wanted} of room are left for ${folder}: what fails there would be taken for a failure of the system; make room, or name another place with TMPDIR`,
  );
}

/** Makes a scratch folder, and sweeps what dead runs left beside it. `places` are tried in order. */
export function openScratch(places: readonly string[] = ["/dev/shm", tmpdir()]): Scratch {
  const inMemory = places.find(isMemory);
  const place = inMemory ?? places.at(-1) ?? tmpdir();
  sweep(place);
  const folder = mkdtempSync(join(place, `${PREFIX}${world()}-${process.pid}-${startTimeOf(process.pid)}-`));
  if (!removesAtExit) process.once("exit", removeAll);
  removesAtExit = true;
  owned.add(folder);
  return { folder, isInMemory: inMemory !== undefined, remove: () => remove(folder) };
}

const owned = new Set<string>();
let removesAtExit = false;

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  owned.delete(folder);
}

function removeAll(): void {
  for (const folder of owned) remove(folder);
}

/** Undefined where nobody says: of a folder that is not there, or on a file system that counts no blocks. */
function roomOf(folder: string): number | undefined {
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize, blocks } = statfsSync(folder);
  return blocks === 0 ? undefined : bavail * bsize;
}

function isMemory(place: string): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(place);
    accessSync(place, constants.W_OK | constants.X_OK);
    return type === TMPFS_TYPE && bavail * bsize >= ROOM_MIN_BYTES;
  } catch {
    return false;
  }
}

const OWNED_NAME = /^crashproof-([0-9a-f]{12})-(\d+)-(\d+)-/;

/** Removes what dead runs left in a place; see invariant 2. */
function sweep(place: string): void {
  for (const name of readdirSync(place)) {
    const [, ownerWorld, pid, startTime] = OWNED_NAME.exec(name) ?? [];
    if (ownerWorld !== world() || pid === undefined || startTime === undefined) continue;
    if (isAlive(Number(pid), startTime) || !isOurs(join(place, name))) continue;
    try {
      rmSync(join(place, name), { recursive: true, force: true });
    } catch {
      // Another run sweeps the same folder now, or will: leftovers are nobody's failure.
    }
  }
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

function isAlive(pid: number, startTime: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Any other answer than "no such process" means that there is one.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
  }
  return startTimeOf(pid) === startTime;
}

/** When a process started, in the kernel's ticks since boot; "0" where the system does not tell. */
function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the command, may hold anything; the rest is counted from behind its closing parenthesis.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "0";
  } catch {
    return "0";
  }
}

let worldName: string | undefined;

/** This boot of this machine and this process namespace; process ids mean nothing in another one. */
function world(): string {
  worldName ??= createHash("sha256").update(`${bootId()} ${processNamespace()}`).digest("hex").slice(0, 12);
  return worldName;
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}
