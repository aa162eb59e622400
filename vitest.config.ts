import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@crewboard/source'] },
  ssr: { resolve: { conditions: ['@crewboard/source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // It only ends what hangs. The embedded server needs its time for the wider boards.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    maxWorkers: 2,
    // A third of the run was loading the same packages for every file anew. So no test may leave anything behind in its
    // process: no stub, no listener, no timer.
    isolate: false,
  },
});
