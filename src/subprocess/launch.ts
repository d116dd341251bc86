/**
 * The launcher of a child program: runs a bundle with V8's code cache, on every Node that the package supports.
 *
 * Node 22 has `module.enableCompileCache`, Node 20 has not, and neither keeps functions that are compiled late; so
 * the launcher does it itself, with what `node:vm` offers in all of them. The program tells when it has done its work
 * once (`warmed`); what V8 has compiled until then is kept, and the next child starts with it.
 *
 * Arguments: the bundle (CommonJS, exports `main(hooks)`), the file of its code cache, and a file from which the
 * bundle's external packages are resolved. It is bundled by itself, and imports nothing of the house at run time.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";
import type { ProgramHooks } from "./child.ts";

const [, , programPath = "", cachePath = "", requireFrom = ""] = process.argv;

const cachedData = readIfThere(cachePath);
const script = new Script(
  `(function (exports, require, module, __filename, __dirname) {${readFileSync(programPath, "utf8")}\n})`,
  {
    filename: programPath,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData === undefined ? {} : { cachedData }),
  },
);
const isCold = cachedData === undefined || script.cachedDataRejected === true;

const program: { exports: { main?: (hooks: ProgramHooks) => unknown } } = { exports: {} };
script.runInThisContext()(
  program.exports,
  createRequire(requireFrom),
  program,
  programPath,
  dirname(programPath),
);
program.exports.main?.({
  warmed: () => {
    if (isCold) keep(script.createCachedData());
  },
});

/** Other children may do the same now: each writes a file of its own, and the last one to rename it wins. */
function keep(data: Buffer): void {
  const own = `${cachePath}.${process.pid}`;
  try {
    writeFileSync(own, data);
    renameSync(own, cachePath);
  } catch {
    // A cache that cannot be written makes the next start slower and nothing else.
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
