/**
 * Run ids: the textual name of one run, complete enough to repeat it in a fresh process.
 *
 * Grammar.
 * ```
 * run-id  = kind "/" scenario "/" subject [ "/" cuts ] [ "?seed=" number ]
 *         | faulty "/" scenario "/" subject "/" fault [ "?seed=" number ]
 *         | "race" "/" race "/" subject "/" order [ "/" cuts ] [ "?seed=" number ]
 * kind    = "walk" | "crash" | "kill" | "takeover" | "backends" | "drives" | "determinism"
 * faulty  = "torn" | "disk-fault" | "world-fault" | "lease" | "fuzz"
 * cuts    = cut *( "+" cut )
 * cut     = label "#" occurrence ":" position [ "@" bytes ]      ; occurrences from 1
 * ```
 * `walk` is the run that nobody cuts. `crash` and `kill` carry cuts; a second cut falls into the recovery from the
 * first. `takeover` carries the cut before which the owner stalls, `determinism` the one of the run that is done twice, if
 * it is cut. `backends` names all subjects that must agree, joined by `=`, in the place of the subject.
 * Faulty runs carry a fault, whose words belong to their explorers: `tool.settle#2:cut@117`, `first.write-eio@3`,
 * `tool-hangs@1+tool.settle#1:after`.
 * `race` names a race in the place of the scenario, and one of its orders, or an interleaving by the numbers of what went
 * on at each choice: `race/abort-vs-settlement/jsonl/abort-first`, `race/abort-vs-settlement/memory/steps@0.1.0`. With
 * several subjects, joined by `=`, it asks whether they agree.
 * `fuzz` names a mixture in the place of the scenario, and carries the path to one case of it: `17`, shrunk `17:0:3`; what
 * stores must agree on names them all, as `backends` does.
 * The seed is left out when it is the default.
 *
 * Invariants.
 * 1. `parseRunId(formatRunId(id))` equals `id`.
 * 2. Labels hold letters, digits, dots and dashes, so that an id needs no quoting in a shell but for `#` and `?`.
 */
import { err, ok, type Result, TaggedError } from "../foundation/index.ts";
import { type Cut, cutName, type Position } from "./boundary.ts";

export const DEFAULT_SEED = 1;

export type RunKind =
  | "walk"
  | "crash"
  | "kill"
  | "takeover"
  | "backends"
  | "drives"
  | "determinism"
  | "race"
  | FaultyKind;

/** Runs whose explorer has words of its own for what befalls them. */
export type FaultyKind = "torn" | "disk-fault" | "world-fault" | "lease" | "fuzz";

/** What a run depends on, beside the code. */
export interface RunId {
  readonly kind: RunKind;
  readonly scenario: string;
  readonly subject: string;
  /** Empty for runs that nobody cuts. A cut of a parsed id knows no boundary kind; labels are unique across kinds. */
  readonly cuts: readonly CutRef[];
  readonly seed: number;
  /** What befalls the run, in the words of its explorer; for runs of a faulty kind, and only for them. */
  readonly fault?: string;
  /** For runs of a race, and only for them: which order, or which interleaving. */
  readonly order?: string;
}

/** A cut by name. */
export interface CutRef {
  readonly label: string;
  readonly occurrence: number;
  readonly position: Position;
  readonly bytesWritten?: number;
}

/** A text is no run id. `expected` says what should stand in it. */
export class InvalidRunId extends TaggedError("InvalidRunId")<{ text: string; expected: string }>() {}

/** The text of a run id. */
export function formatRunId({ kind, scenario, subject, cuts, seed, fault, order }: RunId): string {
  const path = [kind, scenario, subject];
  if (fault !== undefined) path.push(fault);
  if (order !== undefined) path.push(order);
  if (cuts.length > 0) path.push(cuts.map(cutRefName).join("+"));
  return path.join("/") + (seed === DEFAULT_SEED ? "" : `?seed=${seed}`);
}

/** The name of a cut as it stands in a run id. */
export function cutRefName({ label, occurrence, position, bytesWritten }: CutRef): string {
  const boundary = { kind: "commit" as const, label, occurrence };
  return cutName(bytesWritten === undefined ? { boundary, position } : { boundary, position, bytesWritten });
}

/** A cut as a reference. */
export function refOf({ boundary, position, bytesWritten }: Cut): CutRef {
  const { label, occurrence } = boundary;
  return bytesWritten === undefined
    ? { label, occurrence, position }
    : { label, occurrence, position, bytesWritten };
}

/** Reads a run id. */
export function parseRunId(text: string): Result<RunId, InvalidRunId> {
  const [path = "", ...query] = text.split("?");
  const [kind, scenario, ...rest] = path.split("/");
  if (!isKind(kind)) return refuse(text, `a kind of run: ${KINDS.join(", ")}`);
  if (scenario === undefined || scenario === "") return refuse(text, "a scenario after the kind");
  const seed = query.length === 0 ? DEFAULT_SEED : parseSeed(query.join("?"));
  if (seed === undefined) return refuse(text, "nothing behind a ? but seed= and a whole number");
  if (isFaulty(kind)) return parseFaulty(text, { kind, scenario, cuts: [], seed }, rest);
  const hasCuts = rest.at(-1)?.includes(":") === true && rest.at(-1)?.includes("#") === true;
  const named = hasCuts ? rest.slice(0, -1) : rest;
  const order = kind === "race" ? named.at(-1) : undefined;
  const subject = (kind === "race" ? named.slice(0, -1) : named).join("/");
  if (order !== undefined && !/^[a-z0-9.@-]+$/.test(order))
    return refuse(text, "an order of the race after the subject, such as abort-first");
  if (subject === "") return refuse(text, "a subject after the scenario");
  const cuts: CutRef[] = [];
  for (const part of hasCuts ? (rest.at(-1) ?? "").split("+") : []) {
    const cut = parseCut(part);
    if (cut === undefined)
      return refuse(text, `a cut such as tool.settle#2:after, not ${JSON.stringify(part)}`);
    cuts.push(cut);
  }
  if ((kind === "crash" || kind === "kill" || kind === "takeover") && cuts.length === 0)
    return refuse(text, "at least one cut");
  if ((kind === "walk" || kind === "drives") && cuts.length > 0)
    return refuse(text, `no cut in a ${kind} run`);
  return ok({ kind, scenario, subject, cuts, seed, ...(order === undefined ? {} : { order }) });
}

/** Reads `seed=17`. One that is too large to be told from its neighbours is none. */
function parseSeed(query: string): number | undefined {
  const [, digits] = /^seed=(\d+)$/.exec(query) ?? [];
  return digits !== undefined && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined;
}

function parseFaulty(
  text: string,
  run: Omit<RunId, "subject"> & { readonly kind: FaultyKind },
  rest: readonly string[],
): Result<RunId, InvalidRunId> {
  const subject = rest.slice(0, -1).join("/");
  const fault = rest.at(-1) ?? "";
  if (subject === "" || !/^[A-Za-z0-9.#:@+-]+$/.test(fault)) {
    return refuse(text, "a subject and a fault such as tool.settle#2:cut@117 after the scenario");
  }
  const wanted = FAULT_FORMS[run.kind];
  if (wanted?.form.test(fault) === false) {
    return refuse(text, `${wanted.expected}, not ${JSON.stringify(fault)}`);
  }
  return ok({ ...run, subject, fault });
}

/** The form of the faults of a kind, where they all have one; the words in it belong to the explorers. */
const FAULT_FORMS: Partial<Record<FaultyKind, { readonly form: RegExp; readonly expected: string }>> = {
  torn: { form: /^[^:]+:[^:]+$/, expected: "a commit and its damage such as tool.settle#2:cut@117" },
  fuzz: { form: /^\d+(:\d+)*$/, expected: "the path to a case such as 17 or 17:0:3" },
};

/** Reads one cut: `tool.settle#2:after`, `tool.settle#1:inside@8192`. */
export function parseCut(text: string): CutRef | undefined {
  const match = /^([A-Za-z0-9.-]+)#([1-9]\d*):(before|inside|after)(?:@(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, label = "", occurrence, position, bytes] = match;
  const base = { label, occurrence: Number(occurrence), position: position as Position };
  return bytes === undefined ? base : { ...base, bytesWritten: Number(bytes) };
}

const FAULTY_KINDS: readonly string[] = [
  "torn",
  "disk-fault",
  "world-fault",
  "lease",
  "fuzz",
] satisfies FaultyKind[];

const KINDS: readonly string[] = [
  "walk",
  "crash",
  "kill",
  "takeover",
  "backends",
  "drives",
  "determinism",
  "race",
  ...FAULTY_KINDS,
];

function isFaulty(kind: RunKind): kind is FaultyKind {
  return FAULTY_KINDS.includes(kind);
}

function isKind(text: string | undefined): text is RunKind {
  return text !== undefined && KINDS.includes(text);
}

function refuse(text: string, expected: string): Result<RunId, InvalidRunId> {
  return err(
    new InvalidRunId({
      message: `not a run id: ${JSON.stringify(text)}; expected ${expected}`,
      text,
      expected,
    }),
  );
}
