/** A step of the build: bundles the programs that children of the published package run, into `dist/child/`. */
import { writeChildPrograms } from "./bundle.ts";

await writeChildPrograms();
