/** `storage`: the contract of one session's durable store, and its three implementations. */

export { byNamespaceThenSeq, type SessionDump } from "./dump.ts";
