/** What a session refuses before its store is asked. */
import type { ShapeIssue } from "../model/index.ts";

/** A transaction that a schema refuses. Nothing of it was written. */
export class InvalidWrite extends Error {
  override readonly name = "InvalidWrite";
  readonly code = "INVALID_WRITE";
  readonly issue: ShapeIssue;

  constructor(issue: ShapeIssue) {
    super(`${issue.path}: expected ${issue.expected}, found ${issue.found}; nothing was written`);
    this.issue = issue;
  }
}
