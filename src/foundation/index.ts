/** `foundation`: what every system of the house shares, and nothing of any of them. */
export { canonicalJson, quoted, quotedKey, rewrittenJson, sortedKeys } from "./canonical-json.ts";
export {
  type Clock,
  type HostTimers,
  hostRepeatingTimer,
  RealClock,
  type RepeatingTimer,
  VIRTUAL_EPOCH_MS,
  VirtualClock,
} from "./clock.ts";
export { Corruption, type Place } from "./corruption.ts";
export { createIdGenerator, type IdGenerator, idAt, idsOfIncarnation, isUuidV7, timestampOf } from "./ids.ts";
export {
  admitJson,
  isAdmitted,
  isCount,
  isJsonText,
  isPlainObject,
  isRecord,
  JSON_DEPTH_MAX,
  type JsonValue,
  jsonEquals,
  jsonEqualsBut,
  NotJson,
  pointerStep,
} from "./json.ts";
export { fromWords, type Random, seededRandom } from "./random.ts";
export {
  absurd,
  err,
  isErr,
  isOk,
  ok,
  type Result,
  type Tagged,
  TaggedError,
  type TaggedErrorClass,
} from "./result.ts";
