/**
 * Corruption: a stored state that no correct writer can have left.
 *
 * A corruption is never repaired silently and never turned into absence. It names its reason, the place, what was
 * expected there and what was found, and says that nothing was changed.
 */

/** Where the damage was seen. `byteOffset` counts from the start of the file, `line` from 1. */
export interface Place {
  readonly file?: string;
  readonly line?: number;
  readonly byteOffset?: number;
  /** A namespaced register, an entry id, a JSON pointer: whatever names the value inside the store. */
  readonly subject?: string;
}

/** A stored state that is impossible under the specification. `reason` is stable and documented by its thrower. */
export class Corruption extends Error {
  override readonly name = "Corruption";
  readonly code = "CORRUPTION";
  readonly reason: string;
  readonly place: Place;

  constructor(reason: string, message: string, place: Place = {}) {
    super(`${describePlace(place)}${message} [${reason}]`);
    this.reason = reason;
    this.place = place;
  }
}

function describePlace(place: Place): string {
  const parts = [
    place.file,
    place.line === undefined ? undefined : `line ${place.line}`,
    place.byteOffset === undefined ? undefined : `byte ${place.byteOffset}`,
    place.subject,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "" : `${parts.join(", ")}: `;
}
