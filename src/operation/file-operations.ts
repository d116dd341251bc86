/**
 * File operations: which paths the summarized part of a conversation touched (compaction §3.4).
 *
 * They are kept beside a summary, because a summary in prose loses paths first. Three sources: the tool calls of
 * responses, and the details that earlier generated summaries carry. Details of a hook are opaque and not read.
 */
import type { AgentMessage, DurableFileOperations, JsonValue } from "../model/index.ts";

/** The details of a generated summary: sorted, and no path in both. */
export interface FileLists {
  readonly readFiles: string[];
  readonly modifiedFiles: string[];
}

/** Collects paths; a path that was only read counts as read until something changes it. */
export class FileOperations {
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();
  readonly #edited = new Set<string>();

  /** Takes over what an earlier generated summary recorded; details of another shape say nothing. */
  addDetails(details: JsonValue | undefined): void {
    if (typeof details !== "object" || details === null || Array.isArray(details)) return;
    const { readFiles, modifiedFiles } = details;
    if (!isPathList(readFiles) || !isPathList(modifiedFiles)) return;
    for (const path of readFiles) this.#read.add(path);
    for (const path of modifiedFiles) this.#edited.add(path);
  }

  /** Takes the calls of a response; other messages have none. */
  addMessage(message: AgentMessage): void {
    if (message.role !== "assistant") return;
    for (const block of message.content) {
      if (block.type !== "toolCall" || typeof block.arguments.path !== "string") continue;
      this.#setOf(block.name)?.add(block.arguments.path);
    }
  }

  /** The durable form: sorted, because sets are not JSON and an order must be fixed. */
  durable(): DurableFileOperations {
    return {
      read: [...this.#read].sort(),
      written: [...this.#written].sort(),
      edited: [...this.#edited].sort(),
    };
  }

  #setOf(toolName: string): Set<string> | undefined {
    switch (toolName) {
      case "read":
        return this.#read;
      case "write":
        return this.#written;
      case "edit":
        return this.#edited;
      default:
        return undefined;
    }
  }
}

/** What a summary tells of files: modified ones, and those that were only read. */
export function fileListsOf({ read, written, edited }: DurableFileOperations): FileLists {
  const modified = new Set([...edited, ...written]);
  return {
    readFiles: read.filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

function isPathList(value: JsonValue | undefined): value is string[] {
  return Array.isArray(value) && value.every((path) => typeof path === "string");
}
