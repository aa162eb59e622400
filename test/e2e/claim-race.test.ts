import { type Boards, openBoards } from '@crewboard/board';
import { newSecret } from '@crewboard/contracts';
import { expect, inject, it } from 'vitest';
import { openBoardFixture } from '../support/board.ts';
import { openTestRedis } from '../support/redis.ts';

const ROUNDS = inject('redisKind') === 'embedded' ? 40 : 200;

interface Claimant {
  id: string;
  boards: Boards;
  wins: number;
}

/** Claims as a worker does that a delivery told of `expectedAttempt`; answers the token, or why there is none. */
async function claim({ boards, id }: Claimant, jobId: string, taskId: string, expectedAttempt?: number) {
  const owner = { kind: 'sub-agent' as const, id };
  const once = { secret: newSecret(), requestId: newSecret(), leaseMs: 30_000 };
  const told = expectedAttempt === undefined ? {} : { expectedAttempt };
  return boards.claim(jobId, { taskId, owner, ...once, ...told }).then(
    (claimed) => claimed?.token ?? 'dropped',
    (error: { code?: unknown }) => String(error.code),
  );
}

it.each([
  { told: 'the attempt by its delivery', loses: 'dropped', expected: (round: number) => round },
  { told: 'nothing but the ID', loses: 'already_claimed', expected: () => undefined },
])(
  `gives a task to exactly one of two workers that claim it at once, ${ROUNDS} times, told $told`,
  async ({ loses, expected }) => {
    await using fixture = await openBoardFixture();
    await using other = openTestRedis();
    const claimants: Claimant[] = [
      { id: 'worker-1', boards: fixture.boards, wins: 0 },
      { id: 'worker-2', boards: openBoards(other.redis, fixture.store.prefix), wins: 0 },
    ];
    const { jobId, ids } = await fixture.job([{ key: 'a', title: 'Wanted by two' }]);
    const taskId = ids.a ?? '';

    for (let round = 0; round < ROUNDS; round++) {
      const tokens = await Promise.all(
        claimants.map((claimant) => claim(claimant, jobId, taskId, expected(round))),
      );
      const [winner, ...more] = claimants.filter((_, i) => tokens[i] !== loses);
      if (winner === undefined || more.length > 0)
        throw new Error(`round ${round} ended ${tokens.join(', ')}`);
      const token = tokens[claimants.indexOf(winner)] ?? '';
      expect(await fixture.boards.task(jobId, taskId)).toMatchObject({
        status: 'in_progress',
        attempt: round + 1,
        owner: { kind: 'sub-agent', id: winner.id },
      });
      winner.wins++;
      await winner.boards.release({ jobId, taskId, token }, newSecret(), 'the next round');
      // They take turns in asking first.
      claimants.reverse();
    }

    expect(claimants.every(({ wins }) => wins > 0)).toBe(true);
    const events = await fixture.boards.events(jobId, '0-0', 10_000);
    const claimed = events.filter(({ type }) => type === 'task.claimed');
    expect(claimed.map(({ attempt }) => attempt)).toEqual(Array.from({ length: ROUNDS }, (_, i) => i + 1));
  },
);
