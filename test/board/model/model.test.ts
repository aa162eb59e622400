import fc from 'fast-check';
import { describe, inject, it } from 'vitest';
import { openTestRedis } from '../../support/redis.ts';
import { scenarios } from './arbitraries.ts';
import { openBench, runScenario } from './run.ts';

/** The long form, with other seeds, is test/long/board-model.ts. */
const SEED = 20_261_130;
const RUNS = inject('redisKind') === 'embedded' ? 15 : 100;
const COMMANDS_MOST = 60;
const TIME_LIMIT_MS = 120_000;

describe('store, log and reference model', () => {
  it(
    `agree after every step of any sequence of commands (seed ${SEED})`,
    async () => {
      await using store = openTestRedis();
      const bench = openBench(store.redis, store.prefix);
      const property = fc.asyncProperty(scenarios(COMMANDS_MOST), async (scenario) => {
        await runScenario(bench, scenario);
      });
      await fc.assert(property, { numRuns: RUNS, seed: SEED });
    },
    TIME_LIMIT_MS,
  );
});
