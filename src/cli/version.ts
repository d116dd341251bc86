/** The version of the package, read from its manifest: one place to change it. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
// Two levels up from the sources, three from the compiled files in `dist`.
const manifest = ["../../package.json", "../../../package.json"]
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

export const VERSION: string =
  manifest === undefined ? "unknown" : (require(manifest.pathname) as { version: string }).version;
