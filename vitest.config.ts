import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noProcessEnv: the one switch of the test run itself
const isEmbedded = process.env.CREWBOARD_TEST_REDIS === 'embedded';

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // The embedded server needs its time for the wider boards.
    testTimeout: isEmbedded ? 180_000 : 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
