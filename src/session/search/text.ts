/**
 * Text as it goes into the index and as it is asked for.
 *
 * Only message entries are indexed, and of them only what people read: not thinking, not arguments of tools, not images.
 *
 * Scripts that are written without spaces would make one long word of a sentence. Their characters are kept apart by
 * zero-width spaces, in the index and in queries alike, so that any run of them is found; snippets are given out
 * without them.
 */
import type { AgentMessage, Entry } from "../../model/index.ts";

/** The text of an entry, or undefined for one that has none to index. */
export function textOf(entry: Entry): string | undefined {
  if (entry.type !== "message") return undefined;
  const text = messageText(entry.message).replaceAll("\0", " ").trim();
  return text === "" ? undefined : spaced(text);
}

/** A snippet as it is given out. */
export function shown(snippet: string): string {
  return snippet.replaceAll(ZERO_WIDTH_SPACE, "");
}

/**
 * The words of a query as an expression of FTS5, or undefined where there is no word in it. Every word is quoted, so
 * that nothing a caller types is an operator.
 */
export function matchExpression(text: string): string | undefined {
  const words = spaced(text.replaceAll("\0", " ").toWellFormed())
    .split(/\s+/)
    .filter((word) => LETTER.test(word));
  if (words.length === 0) return undefined;
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
}

function messageText(message: AgentMessage): string {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
    case "custom":
      return contentText(message.content);
    case "bashExecution":
      return `${message.command}\n${message.output}`;
    case "branchSummary":
    case "compactionSummary":
      return message.summary;
    default:
      // A role of the application's own; what it says is found if it is said as the built-in roles say it.
      return contentText((message as { content?: unknown }).content);
  }
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: unknown) => {
      const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
      return type === "text" && typeof text === "string" ? [text] : [];
    })
    .join("\n");
}

function spaced(text: string): string {
  return text.replace(BETWEEN_UNSPACED, ZERO_WIDTH_SPACE);
}

const ZERO_WIDTH_SPACE = "\u200b";
const UNSPACED =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}]";
/** The places on both sides of each character of a script without spaces. */
const BETWEEN_UNSPACED = new RegExp(
  `(?<=${UNSPACED})(?=[\\p{L}\\p{N}\\p{M}])|(?<=[\\p{L}\\p{N}\\p{M}])(?=${UNSPACED})`,
  "gu",
);
/** What the tokenizer makes a word of. */
const LETTER = /[\p{L}\p{N}\p{Co}]/u;
