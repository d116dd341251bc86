/**
 * The Subject contract: a system that can be crashed. An explorer asks only this.
 *
 * Walking, cutting, forking, killing, comparing, naming and shrinking are written once, over this contract. The
 * built-in systems implement it in this room; anyone else's system plugs in by implementing it.
 *
 * Terms. *Disk*: what outlives a crash. *Life* (incarnation): one process over a disk, from boot to death or close.
 * *View*: what is durable, in two texts: exact, and canonical (ids renamed in order of first appearance, object keys
 * sorted, times as offsets without downtime).
 *
 * Invariants.
 * 1. Nothing outlives a life but its disk and its world. A boot reads nothing else.
 * 2. `fork` is a copy: nothing done to one disk is seen in the other. The original may have a live process on it.
 * 3. `view` reads what is durable and changes nothing; it is right beside a live process and right after a kill.
 * 4. Given equal disk, world, scenario, seed and incarnation, a life does the same.
 */
import type {
  Account,
  CheckerRun,
  RecoveryExpectation,
  RecoveryQuestion,
  RunEnd,
  View,
  ViewReading,
} from "../checkers/index.ts";
import type {
  Disturbance,
  Gate,
  MeanwhileCall,
  MediumFault,
  MediumFaultKind,
  MediumStop,
  RaceCall,
  Scenario,
  Stimulus,
  Story,
  Timeline,
  World,
  WorldFaultKind,
} from "../faults/index.ts";

/** What a subject promises to survive. Each grade includes the ones before it. */
export type Grade = "memory" | "process-crash" | "power-loss" | "multi-writer";

export type Drive = "automatic" | "manual";

/** A system under test on one kind of store. */
export interface Subject {
  /** The name on the command line and in run ids: `memory`, `jsonl`, `sqlite`, `txlog`, … */
  readonly id: string;
  /** One line for `crashproof list`. */
  readonly title: string;
  readonly grade: Grade;
  /** The labels of all commits that its specification knows; for coverage. */
  readonly rows: readonly string[];
  /** The ways in which it can be driven; each must leave the same durable state (design §3.9). */
  readonly drives: readonly Drive[];
  /** Subjects of one family must agree on every view (design §3.8). */
  readonly family: string;
  /** The ways in which its medium can be made to fail; absent if it has no place to make it. */
  readonly mediumFaults?: readonly MediumFaultKind[];

  /** The ways in which the world around it can be made to misbehave; absent if it has no place to make it. */
  readonly worldFaults?: readonly WorldFaultKind[];

  /** Why it cannot run a scenario, if it cannot: a feature that its specification lacks. */
  skips?(scenario: Scenario): string | undefined;
  /** A new disk with a new, empty session on it. `folder` is where a disk that needs files may put them. */
  provision(options: { readonly seed: number; readonly folder: string }): Promise<Disk>;
  /**
   * The disk that another process left in a folder: the one that it provisioned there. Undefined if this kind of disk
   * cannot outlive a process.
   */
  attach(folder: string): Disk | undefined;
  /** Begins a life. Returns at once: opening and recovery are part of the life, and are gated like the rest of it. */
  boot(boot: Boot): Incarnation;
  /** What is durable now. Rejects if it cannot be read. */
  view(disk: Disk, reading: ViewReading): Promise<View>;
  /** What a view holds, in the words of a scenario; absent if nobody can read it so. */
  account?(view: View): Account;
  /** The subject's own checkers, over one run. */
  judge(context: JudgeContext): CheckerRun<RunEnd>;
  /** What a view says, line by line, as the histories of races say it; absent where no race can be run. */
  story?(view: View): Story;
  /** What the specification demands after a cut: the uninterrupted view, changed where the policy table says so. */
  expect(question: RecoveryQuestion): Promise<RecoveryExpectation>;
}

/** What outlives a crash. */
export interface Disk {
  /** A copy in `folder`, or in memory where the disk needs no files. */
  fork(folder: string): Disk;
  /**
   * Where the next commit begins, in bytes, if commits can be torn; undefined where a commit is atomic. What an earlier
   * death left of a commit does not count: it is gone by then.
   */
  size(): number | undefined;
  /**
   * Where the medium can tear the last commit, which began at `sizeBefore`, each with a way to a copy of this disk on which
   * it is torn there. Only good until something else is committed.
   */
  tear(sizeBefore: number, folder: string): readonly TornDisk[];
  /**
   * Everything on it that a boot could read, item by item, as it is now: texts, numbers, or objects that never change,
   * to be compared with `===`. Deaths that left the very same share one recovery. A disk without it is like no other.
   */
  imprint?(): readonly unknown[];
  /**
   * Its files as they are now, byte by byte, if it has any; the last commit began where `size` said. They are damaged by
   * explorers, never in place: see `withFiles`.
   */
  files?(): readonly DiskFile[];
  /** A copy whose files have these contents, by name; one that is not given is missing there. */
  withFiles?(contents: ReadonlyMap<string, Uint8Array>, folder: string): Disk;
  /** Releases memory and files. */
  dispose(): void;
}

export interface TornDisk {
  readonly bytesWritten: number;
  /** Makes the copy. */
  make(): Disk;
}

/** One file of a disk. */
export interface DiskFile {
  /** `session`, `database`, `log`: what it is on this kind of disk. */
  readonly name: string;
  readonly format: FileFormat;
  readonly bytes: Uint8Array;
  /** Where the last commit begins, in bytes; the size of the file if it holds nothing of it. */
  readonly lastCommitFrom: number;
  /**
   * Whether the specification of its format promises that changed bytes of a commit are noticed. Where it does not, a
   * change that passes unnoticed breaks no promise, and is counted as what nobody promised.
   */
  readonly noticesChanges: boolean;
}

/**
 * `lines`: whole lines, each a commit, the line feed at its end the mark that it is whole. `frames`: the write-ahead log
 * of SQLite, each frame a header and a page. `pages`: its database file.
 */
export type FileFormat =
  | { readonly kind: "lines" }
  | { readonly kind: "frames"; readonly frameBytes: number; readonly frameHeaderBytes: number }
  | { readonly kind: "pages"; readonly pageBytes: number };

/** Everything a life depends on. */
export interface Boot {
  readonly disk: Disk;
  readonly world: World;
  readonly scenario: Scenario;
  readonly seed: number;
  /** 0 for the first life on this disk, one more after each crash. */
  readonly incarnation: number;
  readonly gate: Gate;
  readonly timeline: Timeline;
  readonly drive: Drive;
  /** Whether commits need their names: a gate that stops, or a reader. Naming costs, and most lives are only judged. */
  readonly isNamed: boolean;
  /** Where the medium stops in the middle of a commit. Subjects whose commits are atomic have no use for it. */
  readonly mediumStop?: MediumStop;
  /** How the medium fails in this life. Only with a kind of fault that the subject lists. */
  readonly mediumFault?: MediumFault;
  /** Told by the application of each of its calls, for whoever holds the system to what it has answered. */
  readonly told?: (told: ToldOfCall) => void;
  /** What its hooks, its listeners or its clock do wrongly in this life. Only of a kind that the subject lists. */
  readonly disturbance?: Disturbance;
}

/** A call of an application: about to be made, or answered. One that the process died in is never answered. */
export interface ToldOfCall {
  readonly lane: string;
  readonly call: Stimulus | MeanwhileCall;
  readonly phase: "asked" | CallOutcome;
}

/** `refused`: the system answered that it does not do it, such as a queue that takes nothing any more. */
export type CallOutcome = "done" | "refused";

/** One life of the process. */
export interface Incarnation {
  /**
   * Resolves when the life's work is done: the scenario's stimuli are answered, or what was interrupted has been
   * resumed to its end. Rejects if the system refused or faulted. Never settles after `drop`.
   */
  readonly life: Promise<void>;
  /** Death: nothing awaited, nothing flushed, nothing written. Handles are let go. */
  drop(): void;
  /** A clean end. */
  close(): Promise<void>;
  /**
   * Makes a call from outside, which nobody holds back; what it writes passes the gate like everything else. Resolves to
   * how it was answered, in a word. Undefined: the life cannot be called yet. Only for subjects with a `story`.
   */
  call?(call: RaceCall, name: string): Promise<string> | undefined;
}

export interface JudgeContext {
  readonly scenario: Scenario;
  /** Checkers that are switched off; for showing that each is needed. */
  readonly off: readonly string[];
}
