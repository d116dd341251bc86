/**
 * The configuration of a lane: model, thinking level, active tools (spec §2.3, §5.1).
 *
 * A setter overwrites the whole register in one job on the mutation line of its lane. A step that snapshots the
 * configuration commits only if the register still carries the seq that it read, so a setter comes before it or after it.
 * What is set need not be registered: a name that no registry knows is a missing identity when it is needed.
 */
import { issueOf, type LaneConfiguration, LaneConfigurationSchema, type Model } from "../model/index.ts";
import { configurationWrite } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { commitOutside } from "./outside-commit.ts";

/** The configuration now. */
export async function configurationOf(environment: Environment, lane: string): Promise<LaneConfiguration> {
  const { lifecycle, session } = environment;
  const register = await lifecycle.reading(() => session.getRegister("lane.config", lane));
  if (register === undefined) throw new Error(`lane ${lane} has no configuration`);
  return register.value;
}

/**
 * Replaces members of the configuration. Called on the lane's mutation line.
 * @throws TypeError for a value that is none; nothing is changed then.
 */
export async function configure(
  environment: Environment,
  lane: string,
  change: Partial<LaneConfiguration>,
): Promise<void> {
  const next = { ...(await configurationOf(environment, lane)), ...change };
  checkConfiguration(next);
  await commitOutside(environment, { writes: [configurationWrite(lane, next)] });
}

/** @throws TypeError for what is no configuration */
export function checkConfiguration(configuration: LaneConfiguration): void {
  const issue = issueOf(LaneConfigurationSchema, configuration);
  if (issue) throw new TypeError(`${issue.path}: expected ${issue.expected}, found ${issue.found}`);
  const names = configuration.activeToolNames;
  if (new Set(names).size !== names.length) throw new TypeError(`a tool is active once: ${names.join(", ")}`);
}

/** The durable identity of a model. */
export function identityOf({ provider, id }: Model): LaneConfiguration["model"] {
  return { provider, modelId: id };
}
