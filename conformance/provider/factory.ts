/** What an author of a provider writes to have it held against the contract. */
import type { JsonObject, Model, Models } from "../../src/model/index.ts";
import type { SubjectFactory } from "../promise.ts";

/** How the service behind the provider is to answer the next request. */
export type ServiceScript =
  | { readonly kind: "answers"; readonly text: string }
  /** Needs `toolCalls`. */
  | { readonly kind: "calls"; readonly toolName: string; readonly arguments: JsonObject }
  /** An HTTP error, or a stream that breaks. Needs `failures`. */
  | { readonly kind: "fails"; readonly message: string }
  /** Nothing comes until the signal fires. Needs `hangs`. */
  | { readonly kind: "hangs" }
  /** The job is taken, and so many polls find it pending before it answers. Needs `deferred`. */
  | { readonly kind: "defers"; readonly pendingPolls: number; readonly text: string };

/** What the author can bring about; what is left out is skipped, and never counts as kept. */
export type ProviderCapability = "toolCalls" | "failures" | "hangs" | "deferred" | "bill" | "payload";

export interface ProviderHandle {
  readonly models: Models;
  /** A model of the provider, registered in `models`. */
  readonly model: Model;
  /** Says how the service answers from now on. */
  script(script: ServiceScript): void;
  /** Requests that the service has seen. Needs `bill`. */
  requestCount?(): number;
  /** The payload that the service was sent last. Needs `payload`. */
  lastPayload?(): unknown;
}

export type ProviderFactory = SubjectFactory<ProviderHandle, ProviderCapability>;
