/**
 * Reading what is durable beside a run: where nothing was done to it yet, so that nothing can be shown by doing something
 * if it cannot be read; where another process left it; and where what it reads as is held against what it reads as later.
 */
import type { Downtime, View } from "../subject/index.ts";
import { diskFolderOf } from "../subprocess/index.ts";
import { type RunContext, type Standing, viewOf } from "./standing.ts";

class Unreadable extends Error {}

/** What is durable, for `unlessUnreadable`. */
export async function readable(context: RunContext, standing: Standing): Promise<View> {
  try {
    return await viewOf(context, standing);
  } catch (cause) {
    throw new Unreadable("what is durable cannot be read", { cause });
  }
}

/** What `work` resolves to; undefined if `readable` could not read. */
export async function unlessUnreadable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** What is durable in the folder of a process of its own. */
export async function viewLeftBy(
  { subject }: RunContext,
  folder: string,
  downtimes: readonly Downtime[],
): Promise<View> {
  const disk = subject.attach(diskFolderOf(folder));
  if (disk === undefined) throw new Error(`${subject.id} finds no disk where a process had one`);
  return subject.view(disk, { downtimes });
}

/** The exact text of a view; of one that cannot be read, why. */
export function exactTextOf(view: Promise<View>): Promise<string> {
  return view.then(
    ({ exact }) => exact,
    (error: unknown) => `unreadable: ${error}`,
  );
}
