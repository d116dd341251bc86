/**
 * What every request goes through, whoever makes it: which tools it offers, its stream to the end, and what comes out as it
 * may be stored (spec §4.6, §5.7).
 *
 * `aborted` means that the signal of whoever asked has fired. A provider that reports it without the signal breaks its
 * contract; what it meant was a failure, so that is what is stored.
 */
import type {
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
  SettledAssistantMessage,
  Tool,
} from "../model/index.ts";
import { messageOf, readOr } from "./errors.ts";
import type { AdmitMessage } from "./tool-call.ts";

/** A tool as a provider is told of it. */
export function offeredTool({ name, description, parameters, constrainedSampling }: Tool): Tool {
  const sampling = constrainedSampling === undefined ? {} : { constrainedSampling };
  return { name, description, parameters, ...sampling };
}

/** The message at the end of a stream; everything before it is told, and waited for. */
export async function streamToEnd(
  stream: AssistantMessageEventStream,
  tell: (event: Exclude<AssistantMessageEvent, { type: "done" | "error" }>) => void | Promise<void>,
): Promise<AssistantMessage | undefined> {
  for await (const event of stream) {
    if (event.type === "done") return event.message;
    if (event.type === "error") return event.error;
    const telling = tell(event);
    if (telling) await telling;
  }
  return stream.result();
}

/** What stands in for an answer; a usage that is valid by itself is kept. */
export type FailedResponse = (errorMessage: string, usage?: unknown) => SettledAssistantMessage;

/** A provider's answer as it may be stored: settled, valid, and aborted only if `signal` fired. */
export function settledForm(
  admit: AdmitMessage,
  signal: AbortSignal,
  message: AssistantMessage,
  failed: FailedResponse,
): SettledAssistantMessage {
  try {
    return storableForm(admit, signal, message, failed);
  } catch (error) {
    // No object at all, or one with a member that throws when it is looked at.
    const usage = readOr(() => message.usage);
    return failed(`the provider's response cannot be read: ${messageOf(error)}`, usage);
  }
}

function storableForm(
  admit: AdmitMessage,
  signal: AbortSignal,
  message: AssistantMessage,
  failed: FailedResponse,
): SettledAssistantMessage {
  let settled = message;
  if (message.stopReason === "pending") {
    settled = { ...message, stopReason: "error", errorMessage: "the stream ended without a stop reason" };
  } else if (message.stopReason === "aborted" && !signal.aborted) {
    const said = message.errorMessage ? `: ${message.errorMessage}` : "";
    const errorMessage = `the provider reported an abort that nobody asked for${said}`;
    settled = { ...message, stopReason: "error", errorMessage };
  }
  const admitted = admit(settled);
  if (admitted.ok && admitted.value.role === "assistant") return admitted.value as SettledAssistantMessage;
  const { usage } = message;
  if (admitted.ok) return failed("the provider's response has another role than assistant", usage);
  const { path, expected, found } = admitted.error;
  return failed(
    `the provider's response is invalid at ${path || "the root"}: ${expected} expected, ${found} found`,
    usage,
  );
}
