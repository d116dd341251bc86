/**
 * The program that children run: one bundle, so that a child starts in tens of milliseconds and not in hundreds.
 *
 * Terms. *Checkout*: the package's root holds the TypeScript source; programs are bundled when they are first needed,
 * into a cache. *Published package*: `dist/child/` holds them, written by {@link writeChildPrograms} at build time.
 *
 * The cache. A program is kept as `<hash of its content>.cjs`, and beside it `<hash of its entry>.json` lists every
 * file that went into it with its hash. If all of them are unchanged the bundler is not even loaded.
 *
 * Invariants.
 * 1. A program is never older than its sources: all inputs are hashed at every start (a few milliseconds).
 * 2. Processes that build at once do not see each other's half: files are written under a name of their own and
 *    renamed, and a name that stands for a content never stands for another.
 * 3. A cache folder is used only if it is this user's: what lies in it is run.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import type { Plugin } from "esbuild";
import { RealClock } from "../foundation/index.ts";

/** What a child is started with. All are absolute paths. */
export interface ChildProgram {
  readonly launcher: string;
  readonly program: string;
  /** Where V8's code cache of the program is, or will be. */
  readonly codeCache: string;
  /** A file from which packages that are not bundled are resolved. */
  readonly requireFrom: string;
}

export interface ProgramOptions {
  /** The package's root; found from this module's place unless given. */
  readonly root?: string;
  /** Which of the package's own programs: `child` unless given. */
  readonly name?: ProgramName;
  /** A program other than the package's own: a TypeScript module that exports `main(hooks)`. Needs `esbuild`. */
  readonly entry?: string;
  /** Where to keep what is built; a folder of the package or of the system unless given. */
  readonly cacheFolder?: string;
}

/** Packages that hold binaries, or that no child needs. */
const EXTERNAL = ["better-sqlite3", "esbuild"];
const LAUNCHER = join("src", "subprocess", "launch.ts");
const PUBLISHED = join("dist", "child");

/** The package's own programs: `child` is killed, `contender` wants what others have, `worker` explores in a thread. */
const PROGRAMS = {
  child: { entry: join("src", "subprocess", "child-program.ts"), published: "program.cjs" },
  contender: { entry: join("src", "subprocess", "contender-program.ts"), published: "contender.cjs" },
  worker: { entry: join("src", "cli", "worker-program.ts"), published: "worker.cjs" },
} as const;

export type ProgramName = keyof typeof PROGRAMS;

/** The program that children run; see the module header. */
export async function childProgram(options: ProgramOptions = {}): Promise<ChildProgram> {
  const root = options.root ?? packageRoot();
  const cacheFolder = options.cacheFolder ?? ownFolder(root);
  const own = PROGRAMS[options.name ?? "child"];
  const entry = options.entry ?? join(root, own.entry);
  const launcherSource = join(root, LAUNCHER);
  const program = existsSync(entry)
    ? await built(entry, root, cacheFolder)
    : join(root, PUBLISHED, own.published);
  const launcher = existsSync(launcherSource)
    ? await built(launcherSource, root, cacheFolder)
    : join(root, PUBLISHED, "launch.cjs");
  // V8 refuses a cache of another version by itself; by name, versions that take turns do not overwrite each other.
  const name = `${hashOf(readFileSync(program))}-${process.version}-${process.arch}.v8`;
  return { launcher, program, codeCache: join(cacheFolder, name), requireFrom: join(root, "package.json") };
}

/** Writes the published form of the programs into `<root>/dist/child`. A step of the package's build. */
export async function writeChildPrograms(root: string = packageRoot()): Promise<void> {
  const folder = join(root, PUBLISHED);
  mkdirSync(folder, { recursive: true });
  const launcher = { entry: LAUNCHER, published: "launch.cjs" };
  for (const { entry, published } of [...Object.values(PROGRAMS), launcher]) {
    writeFileSync(join(folder, published), (await bundle(join(root, entry), root)).content);
  }
}

interface Built {
  readonly program: string;
  /** Path under the root → hash. */
  readonly inputs: { readonly [path: string]: string };
}

async function built(entry: string, root: string, cacheFolder: string): Promise<string> {
  const record = join(cacheFolder, `${hashOf([entry, ...EXTERNAL].join("\n"))}.json`);
  const known = readRecord(record);
  if (known !== undefined && isFresh(known, root, cacheFolder)) {
    const program = join(cacheFolder, known.program);
    for (const path of [program, record]) markUsed(path);
    return program;
  }
  const { content, inputs } = await bundle(entry, root);
  const program = `${hashOf(content)}.cjs`;
  prune(cacheFolder);
  writeWhole(join(cacheFolder, program), content);
  writeWhole(record, JSON.stringify({ program, inputs } satisfies Built));
  return join(cacheFolder, program);
}

function readRecord(path: string): Built | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Built;
  } catch {
    return undefined;
  }
}

function isFresh({ program, inputs }: Built, root: string, cacheFolder: string): boolean {
  try {
    if (hashOf(readFileSync(join(cacheFolder, program))) !== basename(program, ".cjs")) return false;
    return Object.entries(inputs).every(([path, hash]) => hashOf(readFileSync(join(root, path))) === hash);
  } catch {
    return false;
  }
}

async function bundle(entry: string, root: string): Promise<{ content: string; inputs: Built["inputs"] }> {
  const { build } = await import("esbuild");
  const inputs: Record<string, string> = {};
  const result = await build({
    absWorkingDir: root,
    entryPoints: [relative(root, entry)],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: EXTERNAL,
    // CommonJS has no `import.meta`; modules that ask where they are get the bundle.
    define: { "import.meta.url": "bundleUrl" },
    banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
    logLevel: "silent",
    plugins: [hashing(root, inputs)],
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error(`bundling ${entry} gave no file`);
  return { content: output.text, inputs };
}

/** Hashes the very bytes that are bundled: a file that changes meanwhile is seen at the next start. */
function hashing(root: string, inputs: Record<string, string>): Plugin {
  return {
    name: "hashing",
    setup: ({ onLoad }) => {
      onLoad({ filter: /./, namespace: "file" }, ({ path }) => {
        const contents = readFileSync(path);
        inputs[relative(root, path)] = hashOf(contents);
        return { contents, loader: "default" };
      });
    },
  };
}

/** Keeps a cache from growing for ever: what was used last stays, and what may be in use: children start from it. */
function prune(cacheFolder: string): void {
  const files = readdirSync(cacheFolder).map((name) => join(cacheFolder, name));
  const aged = files.map((path) => ({
    path,
    mtimeMs: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }));
  aged.sort((a, b) => b.mtimeMs - a.mtimeMs);
  const youngMs = new RealClock().now() - IN_USE_MS;
  for (const { path, mtimeMs } of aged.slice(CACHED_FILES_MAX)) {
    if (mtimeMs < youngMs) rmSync(path, { force: true });
  }
}

/** As long as an exploration may take that began with what is there. */
const IN_USE_MS = 2 * 60 * 60 * 1000;

function markUsed(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Another process has just replaced it by one that is younger.
  }
}

const CACHED_FILES_MAX = 60;

function writeWhole(path: string, content: string): void {
  const own = `${path}.${process.pid}-${threadId}`;
  writeFileSync(own, content);
  renameSync(own, path);
}

/** The folder that holds this package's `package.json`. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isRoot(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package crashproof around ${fileURLToPath(import.meta.url)}`);
    folder = parent;
  }
  return folder;
}

function isRoot(folder: string): boolean {
  const path = join(folder, "package.json");
  return existsSync(path) && JSON.parse(readFileSync(path, "utf8")).name === "crashproof";
}

/** `.cache/crashproof` in the `node_modules` that the package uses or stands in, else a folder of the system's. */
function ownFolder(root: string): string {
  const modules = [join(root, "node_modules"), dirname(root)].find(
    (folder) => basename(folder) === "node_modules" && existsSync(folder),
  );
  const candidates = [
    ...(modules === undefined ? [] : [join(modules, ".cache", "crashproof")]),
    join(tmpdir(), `crashproof-cache-${process.getuid?.() ?? "user"}`),
  ];
  const folder = candidates.find(isOurs);
  if (folder === undefined) {
    throw new Error(
      `no place for the child program: none of ${candidates.join(", ")} is a folder of this user's`,
    );
  }
  return folder;
}

function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    const isWritable = (stats.mode & 0o022) === 0;
    return (
      stats.isDirectory() && (process.getuid === undefined || (stats.uid === process.getuid() && isWritable))
    );
  } catch {
    return false;
  }
}

function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}
