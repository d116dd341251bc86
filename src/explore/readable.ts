/** Reading what is durable where nothing was done to it yet: if that fails, nothing can be shown by doing something. */
import type { View } from "../subject/index.ts";
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
