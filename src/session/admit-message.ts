/** A message that somebody else made, as it may be stored. */
import { err, NotJson, ok, type Result } from "../foundation/index.ts";
import { type CustomMessageSchemas, type ShapeIssue, validateMessage } from "../model/index.ts";
import { detachJson } from "./detach.ts";

/**
 * A message as it may be stored: detached (`detach.ts`), of a registered role, settled if an assistant's; or the first
 * place where it is not.
 */
export function admitMessage<Message extends object>(
  message: Message,
  customSchemas: CustomMessageSchemas,
): Result<Message, ShapeIssue> {
  let admitted: Message;
  try {
    admitted = detachJson(message);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return err({ path: error.path, expected: "a value that JSON can carry", found: error.found });
  }
  const issue = validateMessage(admitted, customSchemas);
  return issue ? err(issue) : ok(admitted);
}
