/**
 * The order of the rooms, as data, and every import held against it.
 *
 * Rule 1: a file in `src/<room>` imports its own room, or a room earlier in `LAYERS`, and nothing later.
 * Rule 2: another room is entered through its `index.ts` only.
 * Rule 3: `harness` with its supports, `journal` and `txlog` are separate systems; they share `foundation` alone.
 * Rule 4: `foundation`, `model` and `operation` import no Node module.
 * Rule 5: content rooms import `src`; of the rooms in `src`, only `cli` imports a content room.
 * Rule 6: the explorers know no system by name: `explore` imports neither a store nor a runtime.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const LAYERS = [
  "foundation",
  "model",
  "operation",
  "storage",
  "session",
  "harness",
  "journal",
  "txlog",
  "faults",
  "checkers",
  "inspect",
  "subject",
  "subprocess",
  "explore",
  "trace",
  "replay-check",
  "report",
  "cli",
] as const;
const CONTENT = ["scenarios", "races", "crash-points", "conformance", "fixtures", "bench"];
const HARNESS_SYSTEM = ["model", "operation", "storage", "session", "harness"];
const PURE = ["foundation", "model", "operation"];
const SYSTEMS = ["model", "operation", "storage", "session", "harness", "journal", "txlog"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

interface Import {
  readonly file: string;
  readonly target: string;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sourceFiles(path);
    return /\.(ts|js)$/.test(name) && !name.endsWith(".d.ts") ? [path] : [];
  });
}

const IMPORT =
  /(?:^|[;\s])(?:import|export)\b[^;"'`]*?from\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/g;

function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  return [...code.matchAll(IMPORT)].map((match) => ({ file, target: match[1] ?? match[2] ?? "" }));
}

/** Which room a path of the tree belongs to: `storage`, `fixtures`, or "" for a file of `src` itself. */
function roomOf(path: string): string {
  const parts = relative(root, path).split(sep);
  if (parts[0] !== "src") return parts[0] ?? "";
  return parts.length > 2 ? (parts[1] ?? "") : "";
}

function faultsOf({ file, target }: Import): string[] {
  const isTest = /\.test\.ts$/.test(file);
  const from = roomOf(file);
  const name = relative(root, file);
  const faults: string[] = [];
  if (!target.startsWith(".")) {
    const isNode = target.startsWith("node:") || builtinModules.includes(target);
    if (isNode && PURE.includes(from) && !isTest)
      faults.push(`${name}: ${from} imports the Node module ${target}`);
    return faults;
  }
  const path = join(dirname(file), target);
  const to = roomOf(path);
  if (to === from || isTest) return faults;
  const fromLayer = LAYERS.indexOf(from as (typeof LAYERS)[number]);
  const toLayer = LAYERS.indexOf(to as (typeof LAYERS)[number]);
  const fromSrc = relative(root, file).startsWith(`src${sep}`);
  if (fromSrc && from !== "" && fromLayer < 0) faults.push(`${name}: ${from} is no room of the house`);
  if (fromSrc && CONTENT.includes(to) && from !== "cli")
    faults.push(`${name}: only cli imports the content room ${to}`);
  if (fromSrc && from !== "" && toLayer > fromLayer)
    faults.push(`${name}: ${from} imports ${to}, which stands above it`);
  if (toLayer >= 0 && relative(root, path).split(sep).slice(2).join("/") !== "index.ts") {
    faults.push(`${name}: enters ${to} past its index.ts (${target})`);
  }
  const otherSystem =
    (from === "txlog" || from === "journal") && to !== "foundation" && toLayer >= 0 && toLayer !== fromLayer;
  if (otherSystem) faults.push(`${name}: ${from} shares only foundation with other systems, not ${to}`);
  if (HARNESS_SYSTEM.includes(from) && (to === "txlog" || to === "journal")) {
    faults.push(`${name}: the harness system does not know ${to}`);
  }
  if (from === "explore" && SYSTEMS.includes(to))
    faults.push(`${name}: explore knows no system by name, not ${to}`);
  return faults;
}

describe("the house", () => {
  it("has no import that runs upward, around an index, or across systems", () => {
    const rooms = ["src", ...CONTENT]
      .map((room) => join(root, room))
      .filter((path) => statSync(path, { throwIfNoEntry: false }));
    const files = rooms.flatMap(sourceFiles);
    const imports = files.flatMap((file) => importsOf(file, readFileSync(file, "utf8")));
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.flatMap(faultsOf)).toEqual([]);
  });

  it("finds an import that runs upward (the check can fail)", () => {
    const upward = { file: join(root, "src/model/entry.ts"), target: "../storage/index.ts" };
    const pastIndex = { file: join(root, "src/harness/effects.ts"), target: "../storage/contract.ts" };
    const impure = { file: join(root, "src/operation/next-action.ts"), target: "node:fs" };
    const across = { file: join(root, "src/txlog/reducer.ts"), target: "../model/index.ts" };
    const named = { file: join(root, "src/explore/crash/cut.ts"), target: "../../harness/index.ts" };
    for (const wrong of [upward, pastIndex, impure, across, named]) expect(faultsOf(wrong)).not.toEqual([]);
  });
});
