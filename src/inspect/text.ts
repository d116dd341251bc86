/** An inspection in words, for a terminal or a ticket. Everything that comes out of a file is printable by then. */
import { basename } from "node:path";
import type {
  BytesFinding,
  DatabaseFinding,
  FileFinding,
  Inspection,
  LaneFinding,
  LostBytes,
  QueueFinding,
  RefusalFinding,
  SessionFinding,
  Verdict,
} from "./finding.ts";
import { transactionalText } from "./text-transactional.ts";
import { counted, printable, timeInWords } from "./words.ts";

/** See the module header. Ends with a line feed. */
export function inspectionText(inspection: Inspection): string {
  const { files, target } = inspection;
  const blocks = files.map(fileText);
  if (target === "folder") blocks.push(folderSummary(inspection));
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

const VERDICT_SAYS: Readonly<Record<Verdict, string>> = {
  whole: "whole",
  damaged: "DAMAGED",
  inconclusive: "INCONCLUSIVE",
  unreadable: "unreadable",
  not_a_session: "no session",
};

/** `  name       value`. */
function line(name: string, value: string): string {
  return `  ${name.padEnd(10)} ${value}`;
}

function fileText(file: FileFinding): string[] {
  const { refusal, bytes, session, transactional, database, warnings = [], beside } = file;
  const lines = [`${printable(file.path)}: ${file.says}`];
  if (refusal !== undefined) lines.push(line("refused", refusalText(refusal)));
  if (session !== undefined)
    lines.push(...sessionText(session, file.verdict === "damaged" && refusal !== undefined));
  if (transactional !== undefined)
    lines.push(...transactionalText(transactional, refusal !== undefined, line));
  if (bytes !== undefined) lines.push(...bytesText(bytes, refusal !== undefined));
  if (database !== undefined) lines.push(...databaseText(database, file));
  lines.push(
    ...firstOf(warnings, ({ line: number, byteOffset, reason, message }) =>
      line("warning", `line ${number}, byte ${byteOffset}: ${message} [${reason}]`),
    ),
  );
  for (const { path, byteLength, says } of beside) {
    lines.push(line("beside", `${printable(basename(path))}, ${counted(byteLength, "byte")}: ${says}`));
  }
  if (file.verdict === "damaged") {
    lines.push(
      line("nothing", "was changed; work on a copy, and keep this file until what was lost is known"),
    );
  }
  return lines;
}

/** The first lines of a long list, and how many more there are. */
function firstOf<T>(items: readonly T[], toLine: (item: T) => string): string[] {
  const lines = items.slice(0, LINES_MAX).map(toLine);
  const left = items.length - lines.length;
  return left === 0
    ? lines
    : [...lines, line("", `and ${left.toLocaleString("en")} more, which --json prints`)];
}

const LINES_MAX = 30;

function refusalText({ reason, message, byteOffset, line: number, subject }: RefusalFinding): string {
  const place = [
    number === undefined ? undefined : `line ${number}`,
    byteOffset === undefined ? undefined : `byte ${byteOffset}`,
    subject,
  ].filter((part) => part !== undefined);
  // The readers' own messages begin with their place.
  const text = message.startsWith(place.join(", ")) ? message : [...place, message].join(", ");
  return text.endsWith(`[${reason}]`) ? text : `${text} [${reason}]`;
}

function sessionText(session: SessionFinding, isPart: boolean): string[] {
  const { metadata, migration, usage, lanes, violations, unjudgedRoles = [] } = session;
  const { id, createdAt, storageVersion, cwd, parentSessionId, legacyParentSessionPath } = metadata;
  const lines = [
    line("session", `${printable(id)}, created ${timeInWords(createdAt)}, storage version ${storageVersion}`),
  ];
  if (isPart) lines.push(line("", "what follows is what stands before the damage"));
  if (migration !== undefined) {
    lines.push(
      line(
        "migration",
        `its next opening brings it from version ${migration.from} to ${migration.to}: ${migration.titles.join("; ")}`,
      ),
      line("", "what follows is the session after that"),
    );
  }
  if (session.name !== undefined) lines.push(line("name", printable(session.name)));
  if (cwd !== undefined) lines.push(line("folder", printable(cwd)));
  const parent = parentSessionId ?? legacyParentSessionPath;
  if (parent !== undefined) lines.push(line("parent", printable(parent)));
  const newest =
    session.newestEntryAt === undefined
      ? ""
      : `; the newest entry is of ${timeInWords(session.newestEntryAt)}`;
  lines.push(
    line(
      "holds",
      `${counted(session.entryCount, "entry", "entries")} (${counted(session.messageCount, "message")}), ` +
        `${counted(session.usageRowCount, "usage row")}, ${counted(session.registerCount, "register")}, last seq ${session.lastSeq}${newest}`,
    ),
    line(
      "usage",
      `${usage.input} input, ${usage.output} output, ${usage.cacheRead} cache read, ${usage.cacheWrite} cache write, cost ${usage.cost.total}`,
    ),
  );
  if (session.labelCount > 0 || session.customFactKeys.length > 0) {
    const keys = session.customFactKeys.map(printable).join(", ");
    lines.push(
      line(
        "facts",
        [counted(session.labelCount, "label"), ...(keys === "" ? [] : [`custom: ${keys}`])].join(", "),
      ),
    );
  }
  for (const lane of lanes) lines.push(...laneText(lane));
  if (unjudgedRoles.length > 0) {
    lines.push(
      line("not judged", `messages of roles that an application defines: ${unjudgedRoles.join(", ")}`),
    );
  }
  lines.push(
    ...firstOf(violations, ({ invariant, message }) =>
      line("violation", `${invariant === undefined ? "" : `invariant ${invariant}: `}${message}`),
    ),
  );
  return lines;
}

function laneText({
  name,
  leafId,
  configuration,
  operation,
  refusal,
  lastResult,
  queues,
}: LaneFinding): string[] {
  const model =
    configuration === undefined
      ? "not configured yet"
      : `${printable(configuration.model.provider)}/${printable(configuration.model.modelId)}, thinking ${configuration.thinkingLevel}, ${counted(configuration.activeToolNames.length, "tool")}`;
  const lines = [
    line("lane", `${printable(name)} at ${leafId === null ? "the root" : printable(leafId)}; ${model}`),
  ];
  if (refusal !== undefined) lines.push(line("", `a harness refuses it: ${refusalText(refusal)}`));
  if (operation === undefined) {
    if (refusal === undefined) lines.push(line("", "idle; recovery has nothing to do"));
  } else {
    lines.push(
      line(
        "",
        `open: ${operation.kind} ${printable(operation.operationId)}, since ${timeInWords(operation.startedAt)}`,
      ),
      line("", `stands ${operation.phase}`),
      line(
        "",
        operation.next === undefined
          ? "recovery will not touch it while the lane is refused"
          : `recovery will first ${operation.next.says}`,
      ),
    );
  }
  if (lastResult !== undefined) {
    const error = lastResult.error === undefined ? "" : ` (${printable(lastResult.error.code)})`;
    lines.push(
      line(
        "",
        `last ended: ${lastResult.kind} ${printable(lastResult.operationId)}, ${lastResult.outcome}${error}`,
      ),
    );
  }
  for (const queue of queues) lines.push(...queueText(queue));
  return lines;
}

const QUEUE_SAYS: Readonly<Record<QueueFinding["queue"], string>> = {
  nextRun: "waits for the next run",
  steer: "waits to steer",
  followUp: "waits to follow up",
  writes: "waits to be written at the next checkpoint",
  drainedSteer: "was to steer, and was taken out by the abort",
  drainedFollowUp: "was to follow up, and was taken out by the abort",
};

function queueText({ queue, items }: QueueFinding): string[] {
  return items.map(({ entryId, content, preview }) => {
    const says =
      content === undefined
        ? "its register is missing"
        : `${content}${preview === undefined ? "" : ` "${preview}"`}`;
    return line("", `${QUEUE_SAYS[queue]}: ${printable(entryId)}, ${says}`);
  });
}

function bytesText({ keptBytes, keptLines, lost, dead }: BytesFinding, isRefused: boolean): string[] {
  const lines = [
    line(
      isRefused ? "before it" : "kept",
      [...(keptLines === undefined ? [] : [counted(keptLines, "line")]), counted(keptBytes, "byte")].join(
        ", ",
      ),
    ),
  ];
  lines.push(...lost.map(lostText));
  if (dead !== undefined) {
    const worth = dead.isWorthCompacting ? "; worth compacting" : "";
    lines.push(
      line("dead", `${counted(dead.byteLength, "byte")}, ${(100 * dead.ratio).toFixed(1)} % of them${worth}`),
    );
  }
  return lines;
}

const LOST_SAYS: Readonly<Record<LostBytes["what"], string>> = {
  torn_tail: "torn",
  behind_damage: "lost",
  wal_remains: "ignored",
  behind_damaged_frame: "lost",
  cut_off: "missing",
};

function lostText({ byteOffset, byteLength, what, says }: LostBytes): string {
  return line(LOST_SAYS[what], `${counted(byteLength, "byte")} from byte ${byteOffset} on: ${says}`);
}

function databaseText(database: DatabaseFinding, { byteLength = 0, kind }: FileFinding): string[] {
  const { pageBytes, pageCount, freePageCount, integrityFaults, wal, lease, branchIndexFaults } = database;
  const share = pageCount === 0 ? 0 : (100 * freePageCount) / pageCount;
  const lines = [
    line(
      "file",
      `${counted(byteLength, "byte")}; ${counted(pageCount, "page")} of ${pageBytes} bytes, ${freePageCount} of them free (${share.toFixed(1)} %)`,
    ),
  ];
  if (wal !== undefined) {
    lines.push(
      line(
        "wal",
        `${counted(wal.byteLength, "byte")}, of which ${wal.committedBytes} count (${counted(wal.committedFrames, "frame")})`,
      ),
      ...wal.lost.map(lostText),
    );
  }
  if (kind !== "sqlite_session") return lines;
  if (lease !== undefined) {
    const until = `until ${timeInWords(lease.expiresAtMs)}`;
    const says = lease.isExpired
      ? `${until}, which is over: the next writer takes it`
      : `${until}: a writer lives, or died a moment ago`;
    lines.push(line("lease", `held by ${printable(lease.ownerId)}, fence ${lease.fence}, ${says}`));
  } else lines.push(line("lease", "nobody holds it"));
  for (const { says, byteOffset } of integrityFaults) {
    lines.push(line("integrity", `${byteOffset === undefined ? "" : `byte ${byteOffset}: `}${says}`));
  }
  for (const fault of branchIndexFaults) {
    lines.push(line("index", fault));
  }
  if (branchIndexFaults.length > 0) {
    lines.push(line("", "the branch index is a cache; a rebuild makes it again from the entries"));
  }
  const isPart = integrityFaults.length > 0 || database.readableRows.some(({ isComplete }) => !isComplete);
  if (isPart) {
    const rows = database.readableRows.map(
      ({ table, rowCount, isComplete }) => `${rowCount}${isComplete ? "" : " and then no more"} of ${table}`,
    );
    lines.push(line("readable", `rows: ${rows.join(", ")}`));
  }
  return lines;
}

function folderSummary({ path, files, passedOver = [], otherFileCount = 0, verdict }: Inspection): string[] {
  const count = (wanted: Verdict) => files.filter((file) => file.verdict === wanted).length;
  const counts = (Object.keys(VERDICT_SAYS) as Verdict[])
    .filter((each) => count(each) > 0)
    .map((each) => `${count(each)} ${VERDICT_SAYS[each]}`);
  const others = `${counted(otherFileCount, "other file")} below it ${otherFileCount === 1 ? "has" : "have"} nothing to do with sessions`;
  return [
    `${printable(path)}: ${VERDICT_SAYS[verdict]}; ${counts.length === 0 ? "nothing of a session is below it" : counts.join(", ")}; ${others}`,
    ...passedOver.map(({ path: passed, why }) => line("passed by", `${printable(passed)}: ${why}`)),
  ];
}
