/** A drive that is about to leave its operation open: its last commit is made, and it stands at a read. */
import { gate, HANDLE, World } from "./scripted.ts";

/** The run whose answer is put off, and what lets its drive go on. `prepare` is done before it begins. */
export async function leaving(
  prepare: (harness: Awaited<ReturnType<World["boot"]>>["harness"]) => Promise<unknown> = async () =>
    undefined,
) {
  const world = new World({ stopReason: "deferred", deferred: HANDLE });
  const { harness, session } = await world.boot();
  await prepare(harness);
  const reading = gate();
  const goOn = gate();
  const getEntries = session.getEntries.bind(session);
  session.getEntries = async (ids) => {
    reading.open();
    await goOn.opened;
    return getEntries(ids);
  };
  const run = harness.prompt("go");
  await reading.opened;
  return { harness, session, run, goOn };
}
