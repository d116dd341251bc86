/**
 * From the messages of a conversation to the messages of a request (message-types §16).
 *
 * Two steps. *Conversion* (`toProviderMessages`, which an application may replace) turns every role into one of the
 * three that providers know. *Repair* (`repairForProvider`) then makes the list one that every provider accepts: no
 * failed responses, no call without a result, no result without a call, no signatures of another model, no images for
 * a model that cannot see. Repair runs here and not in an adapter, so that a scripted provider sees what a real one
 * would. Nothing of either step is stored.
 */
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  ImageContent,
  Message,
  Model,
  TextContent,
  ToolResultMessage,
} from "../model/index.ts";

/** The default conversion: provider roles unchanged, the harness's own roles as user text, everything else dropped. */
export function toProviderMessages(messages: readonly AgentMessage[]): Message[] {
  const converted: Message[] = [];
  for (const message of messages) {
    switch (message.role) {
      case "user":
      case "assistant":
      case "toolResult":
        converted.push(message);
        break;
      case "custom": {
        const { content, timestamp } = message;
        converted.push({
          role: "user",
          content: typeof content === "string" ? [{ type: "text", text: content }] : content,
          timestamp,
        });
        break;
      }
      case "bashExecution":
        if (message.excludeFromContext !== true)
          converted.push(userText(bashText(message), message.timestamp));
        break;
      case "branchSummary":
        converted.push(userText(summaryText(BRANCH_INTRODUCTION, message.summary), message.timestamp));
        break;
      case "compactionSummary":
        converted.push(userText(summaryText(COMPACTION_INTRODUCTION, message.summary), message.timestamp));
        break;
    }
  }
  return converted;
}

/** The list as a provider accepts it; see the module header. */
export function repairForProvider(messages: readonly Message[], model: Model): Message[] {
  const repaired: Message[] = [];
  /** Calls of the newest response that have no result yet, by id. */
  let open = new Map<string, { toolName: string; timestamp: number }>();
  const closeOpenCalls = () => {
    for (const [toolCallId, { toolName, timestamp }] of open) {
      repaired.push(missingResult(toolCallId, toolName, timestamp));
    }
    open = new Map();
  };
  for (const message of messages) {
    switch (message.role) {
      case "user":
        closeOpenCalls();
        repaired.push(withoutImages(message, model));
        break;
      case "assistant": {
        if (message.stopReason === "error" || message.stopReason === "aborted") break;
        closeOpenCalls();
        repaired.push(forModel(message, model));
        for (const block of message.content ?? []) {
          if (block.type === "toolCall")
            open.set(block.id, { toolName: block.name, timestamp: message.timestamp });
        }
        break;
      }
      case "toolResult":
        if (open.delete(message.toolCallId)) repaired.push(withoutImages(message, model));
        break;
    }
  }
  closeOpenCalls();
  return repaired;
}

const BRANCH_INTRODUCTION = "Summary of a branch of this conversation that was left:";
const COMPACTION_INTRODUCTION = "Summary of the earlier part of this conversation:";
const IMAGE_PLACEHOLDER = "[image omitted: the model does not take images]";

function userText(text: string, timestamp: number): Message {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function summaryText(introduction: string, summary: string): string {
  return `${introduction}\n\n<summary>\n${summary}\n</summary>`;
}

function bashText(message: BashExecutionMessage): string {
  const lines = [`The user ran: ${message.command}`, message.output === "" ? "(no output)" : message.output];
  if (message.cancelled) lines.push("(cancelled)");
  else if (message.exitCode !== undefined && message.exitCode !== 0)
    lines.push(`(exit code ${message.exitCode})`);
  if (message.truncated) {
    const whole =
      message.fullOutputPath === undefined ? "" : `; the whole output is in ${message.fullOutputPath}`;
    lines.push(`(output truncated${whole})`);
  }
  return lines.join("\n");
}

function missingResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text: "There is no result for this call." }],
    isError: true,
    timestamp,
  };
}

/** A response as the target may see it: another model's reasoning becomes text, its signatures go. */
function forModel(message: AssistantMessage, model: Model): AssistantMessage {
  // Old session files hold null where an empty list is meant.
  const content = message.content ?? [];
  const isOwn =
    message.provider === model.provider && message.api === model.api && message.model === model.id;
  if (isOwn) return content === message.content ? message : { ...message, content };
  const foreign: AssistantMessage["content"] = [];
  for (const block of content) {
    switch (block.type) {
      case "text":
        foreign.push({ type: "text", text: block.text });
        break;
      case "thinking":
        if (block.redacted !== true && block.thinking.trim() !== "") {
          foreign.push({ type: "text", text: block.thinking });
        }
        break;
      case "toolCall":
        foreign.push({ type: "toolCall", id: block.id, name: block.name, arguments: block.arguments });
        break;
    }
  }
  return { ...message, content: foreign };
}

/** Each run of images becomes one placeholder if the model cannot see. */
function withoutImages<Held extends { content: string | (TextContent | ImageContent)[] }>(
  message: Held,
  model: Model,
): Held {
  const content = message.content ?? [];
  if (typeof content === "string") return message;
  if (model.input.includes("image") || !content.some(({ type }) => type === "image")) {
    return content === message.content ? message : { ...message, content };
  }
  const readable: (TextContent | ImageContent)[] = [];
  let isInRun = false;
  for (const block of content) {
    if (block.type === "text") readable.push(block);
    else if (!isInRun) readable.push({ type: "text", text: IMAGE_PLACEHOLDER });
    isInRun = block.type === "image";
  }
  return { ...message, content: readable };
}
