/**
 * The reference model: what must hold of every case, whatever befalls it. It knows the workload, what the application was
 * told, what the world did, and the account of what is durable; and nothing of how a runtime works.
 *
 * It says less than the judges of a system do, and it says it of cases for which nobody derived what recovery must reach.
 */
import type { Scenario, WorldRow } from "../../../faults/index.ts";
import type { Account, ToldOfCall } from "../../../subject/index.ts";
import { violationsOf } from "../../checks.ts";
import type { Finding } from "../../judgement.ts";
import { conversationFaults } from "./conversation.ts";
import { effectFaults } from "./effects.ts";
import { messageFaults } from "./messages.ts";
import { restFaults } from "./rest.ts";

/** What is known of a case when it has ended. */
export interface CaseHistory {
  readonly scenario: Scenario;
  /** By life, in order. */
  readonly lives: readonly LifeHistory[];
  readonly end: Account;
  readonly rows: readonly WorldRow[];
}

export interface LifeHistory {
  readonly told: readonly ToldOfCall[];
  /** What was durable when it ended; undefined where that is not known. */
  readonly left: Account | undefined;
}

/** Something that does not hold. */
export interface ModelFault {
  readonly signature: string;
  readonly message: string;
}

/** Everything that does not hold at the end of a case. */
export function judgeByModel(history: CaseHistory): Finding {
  const faults = [
    ...messageFaults(history),
    ...conversationFaults(history),
    ...effectFaults(history),
    ...restFaults(history),
  ];
  const broken = violationsOf("reference-model");
  return { violations: faults.map(({ signature, message }) => broken(signature, message)) };
}
