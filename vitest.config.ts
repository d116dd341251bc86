import { defineConfig } from "vitest/config";

/**
 * Two projects: `layers` is the one test that `npm run check` runs (the order of the rooms); `tests` is the
 * whole suite. Two workers, because the supported machine has two cores.
 */
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { test: { name: "layers", include: ["src/layers.test.ts"] } },
      {
        test: {
          name: "tests",
          include: ["**/*.test.ts"],
          exclude: ["node_modules", "dist"],
          testTimeout: 60_000,
          // What is printed is asked for as text; under CI it would be coloured, pipe or not.
          env: { NO_COLOR: "1" },
        },
      },
    ],
  },
});
