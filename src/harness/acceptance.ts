/**
 * Acceptance of a prompt: from what a caller says to an open operation (spec §3.6).
 *
 * Everything that can be refused is refused before anything is written. The order: what is wrong with the messages
 * (their own fault, whatever the lane does), then whether the lane is busy, then whether its configuration resolves.
 * The last two are judged on the lane's mutation line, in the same job as the commit.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { AgentMessage, ImageContent, TextContent } from "../model/index.ts";
import {
  acceptRun,
  type CapturedItem,
  type CurrentOperation,
  missingIdentities,
  type NewMessage,
} from "../operation/index.ts";
import type { Environment } from "./environment.ts";
import { InvalidMessage, LaneBusy, MissingIdentities } from "./errors.ts";
import { commitAccepted, readLane } from "./found-lane.ts";
import type { ReservedFor } from "./reservation.ts";
import type { BeforeRunOutput } from "./run-hooks.ts";

/** What a prompt may be. A text without images and without characters is no message. */
export type PromptInput = string | AgentMessage | readonly AgentMessage[];

/** One message of a caller, as it may be stored; nothing said is no message. */
export function normalizeMessage(
  environment: Environment,
  lane: string,
  input: string | AgentMessage,
  images: readonly ImageContent[],
): Result<AgentMessage, InvalidMessage> {
  const messages = normalizePrompt(environment, lane, input, images);
  if (!messages.ok) return messages;
  const [message] = messages.value;
  if (message !== undefined) return ok(message);
  const reason = "it has no characters and no images";
  return err(new InvalidMessage({ message: `the message is empty: ${reason}`, lane, reason }));
}

/** The caller's messages as they may be stored. */
export function normalizePrompt(
  environment: Environment,
  lane: string,
  input: PromptInput,
  images: readonly ImageContent[],
): Result<AgentMessage[], InvalidMessage> {
  const messages = messagesOf(input, images, environment.clock.now());
  const admitted: AgentMessage[] = [];
  for (const message of messages) {
    const result = environment.session.admitMessage(message);
    if (!result.ok) {
      const { path, expected, found } = result.error;
      const reason = `${path || "the message"} should be ${expected}, and is ${found}`;
      return err(new InvalidMessage({ message: `the message cannot be stored: ${reason}`, lane, reason }));
    }
    admitted.push(result.value);
  }
  return ok(admitted);
}

/** Accepts a run with these messages. Called on the lane's mutation line. */
export async function acceptPrompt(
  environment: Environment,
  lane: string,
  operationId: string,
  messages: readonly AgentMessage[],
  { injected, systemPromptOverride, resumeData }: BeforeRunOutput,
): Promise<Result<CurrentOperation, LaneBusy | MissingIdentities | InvalidMessage>> {
  const { session } = environment;
  const found = await readLane(environment, lane);
  const { laneState, leafId, configuration } = found;
  const { currentOperationId, pendingNextRun } = laneState;
  if (currentOperationId !== null) return err(await busy(environment, lane, currentOperationId));
  const missing = missingIdentities(configuration, registriesOf(environment));
  if (missing) return err(missingError(lane, missing));

  const captured: CapturedItem[] = [];
  for (const id of pendingNextRun) {
    const register = await session.getRegister("pending.entry", id);
    if (!register) throw new Error(`queued item ${id} of lane ${lane} has no content`);
    captured.push({ id, pending: register.value });
  }
  const prompt = messages.map((message): NewMessage => ({ id: session.idGenerator.next(), message }));
  const accepted = acceptRun({
    lane,
    laneState,
    leafId,
    operationId,
    startedAt: environment.clock.now(),
    settings: environment.settings.run,
    captured,
    prompt,
    injected: injected.map((message): NewMessage => ({ id: session.idGenerator.next(), message })),
    ...(systemPromptOverride === undefined ? {} : { systemPromptOverride }),
    ...(resumeData === undefined ? {} : { resumeData }),
  });
  if (accepted === undefined) {
    const reason = "there is no message in it, and none is queued for the next run";
    return err(new InvalidMessage({ message: `the prompt is empty: ${reason}`, lane, reason }));
  }
  return ok(await commitAccepted(environment, found, accepted));
}

/** The refusal of a lane that has an open operation. */
export async function busy(environment: Environment, lane: string, operationId: string): Promise<LaneBusy> {
  const meta = await environment.session.getRegister("op.meta", operationId);
  const operationKind = meta?.value.intent.kind ?? "run";
  const message = `lane ${lane} has an open ${operationKind} (${operationId}); wait for it, or resume it`;
  return new LaneBusy({ message, lane, operationId, operationKind });
}

/** The refusal of a lane that is reserved for an operation that may come to be. */
export function reservedError(lane: string, { operationId, kind }: ReservedFor): LaneBusy {
  const message = `lane ${lane} is reserved for a ${kind} (${operationId}) that is being prepared; wait for it`;
  return new LaneBusy({ message, lane, operationId, operationKind: kind });
}

/** The refusal of a configuration that does not resolve. */
export function missingError(
  lane: string,
  { tools, models }: { readonly tools: readonly string[]; readonly models: readonly string[] },
): MissingIdentities {
  const parts = [
    ...(models.length > 0 ? [`models ${models.join(", ")}`] : []),
    ...(tools.length > 0 ? [`tools ${tools.join(", ")}`] : []),
  ];
  const message = `lane ${lane} is configured with ${parts.join(" and ")}, not registered now; register them`;
  return new MissingIdentities({ message, lane, tools, models });
}

/** The registries as the planner asks them. */
export function registriesOf({ tools, models }: Environment) {
  return {
    tools: tools.declarations,
    hasModel: (provider: string, modelId: string) => models.getModel(provider, modelId) !== undefined,
  };
}

function messagesOf(
  input: PromptInput,
  images: readonly ImageContent[],
  nowMs: number,
): readonly AgentMessage[] {
  if (typeof input !== "string") return isList(input) ? input : [input];
  if (input === "" && images.length === 0) return [];
  const content: (TextContent | ImageContent)[] = [{ type: "text", text: input }, ...images];
  return [{ role: "user", content, timestamp: nowMs }];
}

function isList(input: AgentMessage | readonly AgentMessage[]): input is readonly AgentMessage[] {
  return Array.isArray(input);
}
