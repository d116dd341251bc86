/**
 * Skills and prompt templates: what a name and its arguments become before anything is stored (spec §5.1, §5.2).
 *
 * Expansion is text in, text out; what is stored is the user message that comes of it, and nobody can tell it from one
 * that was typed.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import { UnknownSkill, UnknownTemplate } from "./errors.ts";

/** Instructions that a user can call by name. */
export interface Skill {
  name: string;
  description: string;
  content: string;
  /** Absolute; relative references in the content are meant from its directory. */
  filePath: string;
  /** Hides the skill from what a prompt lists; it can be called all the same. */
  disableModelInvocation?: boolean;
}

/** A prompt with places for arguments. */
export interface PromptTemplate {
  name: string;
  description?: string;
  content: string;
}

export interface Resources {
  skills?: Skill[];
  promptTemplates?: PromptTemplate[];
}

/** The text of a skill that is called. */
export function expandSkill(
  { skills = [] }: Resources,
  name: string,
  additionalInstructions = "",
): Result<string, UnknownSkill> {
  const skill = skills.find((known) => known.name === name);
  if (skill === undefined) return err(new UnknownSkill({ message: unknown("skill", name, skills), name }));
  const { filePath, content } = skill;
  const directory = filePath.slice(0, Math.max(filePath.lastIndexOf("/"), 1));
  const text =
    `<skill name="${name}" location="${filePath}">\n` +
    `References are relative to ${directory}.\n\n${content}\n</skill>`;
  return ok(additionalInstructions === "" ? text : `${text}\n\n${additionalInstructions}`);
}

/** The text of a template with its arguments, counted from 1. Each step works on what the one before it has made. */
export function expandTemplate(
  { promptTemplates = [] }: Resources,
  name: string,
  args: readonly string[] = [],
): Result<string, UnknownTemplate> {
  const template = promptTemplates.find((known) => known.name === name);
  if (template === undefined) {
    return err(new UnknownTemplate({ message: unknown("template", name, promptTemplates), name }));
  }
  const all = args.join(" ");
  const text = template.content
    .replace(/\$(\d+)/g, (_whole, place: string) => args[Number(place) - 1] ?? "")
    .replace(/\$\{@:(-?\d+)(?::(\d+))?\}/g, (_whole, from: string, count: string | undefined) => {
      const start = Math.max(Number(from), 1) - 1;
      const end = count === undefined ? undefined : start + Number(count);
      return args.slice(start, end).join(" ");
    })
    .replaceAll("$ARGUMENTS", () => all)
    .replaceAll("$@", () => all);
  return ok(text);
}

function unknown(what: string, name: string, known: readonly { name: string }[]): string {
  const names = known.length > 0 ? known.map((item) => item.name).join(", ") : "none";
  return `there is no ${what} named ${JSON.stringify(name)}; known: ${names}`;
}
