/** Runs a command line in this process, as a test sees it. */
import type { ExitCode } from "../exit.ts";
import { main } from "../main.ts";

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export async function crashproof(...args: readonly string[]): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await main(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    isTerminal: false,
  });
  return { code, out, err };
}
