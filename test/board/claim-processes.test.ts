import { expect, inject, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';
import { claimersOf, ROUND_KINDS, runRound } from '../support/claim-rounds.ts';
import { startClaimers } from '../support/claimer-process.ts';

/** The full form, with up to 64 claimers and 1,000 rounds, is test/long/claim-race.ts. */
const ROUNDS_A_KIND = 5;
const PROCESSES = 8;

it.runIf(inject('redisKind') === 'server')(
  'a task goes to exactly one of 2 and of 8 processes that claim it at once, and to none before it is ready',
  { timeout: 120_000 },
  async () => {
    await using board = await openBoardFixture();
    await using claimers = await startClaimers(board.store, PROCESSES);
    const started = [...claimers.processes];
    for (const count of [2, PROCESSES]) {
      for (let round = 0; round < ROUNDS_A_KIND; round++) {
        // Each process is asked first in turn.
        started.push(...started.splice(0, 1));
        for (const kind of ROUND_KINDS) {
          const refusals = await runRound(board, kind, claimersOf(started.slice(0, count), count));
          const sum = Object.values(refusals).reduce((a, b) => a + b, 0);
          // Each loser after the win; and, but for a task that was ready, each claimer before it.
          expect(sum).toBeGreaterThanOrEqual(kind === 'ready' ? count - 1 : count * 2 - 1);
        }
      }
    }
  },
);
