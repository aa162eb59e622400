import { describe, expect, inject, it } from 'vitest';
import { openTestRedis } from '../../support/redis.ts';
import { explore } from './explore.ts';
import { outsiders, workers } from './games.ts';
import { checkCanComplete, checkStep, checkWayOn } from './invariants.ts';
import { replay, samplePaths } from './replay.ts';
import { openBench } from './run.ts';

/** The long form is test/long/board-exhaustive.ts. */
const DEPTH = 4;
const REPLAYED = inject('redisKind') === 'embedded' ? 5 : 20;
const REFUSED_AT_THE_END = 3;

describe.each([outsiders('hold'), outsiders('cancel'), workers('hold')])(
  'two $name, over two tasks',
  (game) => {
    const explored = explore(game, DEPTH, (before, call, answer, after) =>
      checkStep(before.board, call, answer, after.board),
    );

    it('keep every invariant in every sequence, and always find a way on', () => {
      const states = explored.layers.flat();
      expect(states.length).toBeGreaterThan(800);
      expect(explored.sequences).toBeGreaterThan(10_000);
      for (const { state } of states) {
        checkWayOn(game, state);
        checkCanComplete(game, state);
      }
    });

    it('go the same way in Redis', async () => {
      await using store = openTestRedis();
      const bench = openBench(store.redis, store.prefix);
      let calls = 0;
      for (const path of samplePaths(explored, REPLAYED)) {
        calls += await replay(bench, game, path, REFUSED_AT_THE_END);
      }
      expect(calls).toBeGreaterThan(REPLAYED * DEPTH);
    });
  },
);
