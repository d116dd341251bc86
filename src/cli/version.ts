/** The version of the package, read from its manifest: one place to change it. */
import { existsSync, readFileSync } from "node:fs";

// Two levels up from the sources, three from the compiled files in `dist`.
const MANIFESTS = ["../../package.json", "../../../package.json"];

/** The version that the manifest around a module says; `unknown` if there is none. */
export function versionAround(moduleUrl: string): string {
  const manifest = MANIFESTS.map((path) => new URL(path, moduleUrl)).find((url) => existsSync(url));
  if (manifest === undefined) return "unknown";
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
}

export const VERSION: string = versionAround(import.meta.url);
