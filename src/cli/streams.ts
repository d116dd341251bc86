/** Where commands write: the process's own streams, or those of a test. */

/** Where a command reads and writes; handed in so that commands can be tested. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
}
