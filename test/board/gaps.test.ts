import { newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { type BoardFixture, openBoardFixture } from '../support/board.ts';

const OPTIONS = { intervalMs: 500, leaseMs: 30_000, strikes: 3, staleMs: 60_000 };
/** Positions of lua/lib/core.lua. */
const SWEPT_AT = 12;

/** Moves what the board remembers into the past, as if `ms` had gone by: the sweep, leases, and the gap it has noted. */
const AGE = `local board = cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))
if board[${SWEPT_AT}] > 0 then board[${SWEPT_AT}] = board[${SWEPT_AT}] - ARGV[1] end
redis.call('HSET', KEYS[1], '@', cmsgpack.pack(board))
local leases = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for i = 1, #leases, 2 do redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[1]), leases[i]) end
local gap = redis.call('HGET', KEYS[3], 'gap')
if gap then
  gap = cmsgpack.unpack(gap)
  redis.call('HSET', KEYS[3], 'gap', cmsgpack.pack({ gap[1] - ARGV[1], gap[2] }))
end`;

/** A board with a task for outside and one of an agent, and a clock that the test moves. */
async function open() {
  const board = await openBoardFixture();
  const { boards, store } = board;
  const { jobId, ids } = await board.job([
    { key: 'outside', title: 'Outside', executor: 'external' },
    { key: 'agent', title: 'Agent' },
  ]);
  const key = (name: 'hot' | 'lease' | 'job') => boards.keys.board(jobId, name);
  const sweep = () => boards.sweep(jobId, OPTIONS);
  const now = async () => {
    const [seconds, microseconds] = await store.redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  };
  await sweep();
  return {
    board,
    jobId,
    boards,
    id: (name: string) => ids[name] ?? '',
    statusOf: async (name: string) => (await boards.task(jobId, ids[name] ?? '')).status,
    sweep,
    /** Time goes by without a sweep. */
    async away(ms: number) {
      await store.redis.eval(AGE, 3, key('hot'), key('lease'), key('job'), ms);
      await sweep();
    },
    /** Time goes by with a sweep every half a second; what the machine itself takes for the sweeps is part of it. */
    async pass(ms: number) {
      const startedAt = await now();
      let aged = 0;
      for (let at = 500; at <= ms; at += 500) {
        const step = Math.max(0, startedAt + at - (await now()) - aged);
        await store.redis.eval(AGE, 3, key('hot'), key('lease'), key('job'), step);
        aged += step;
        await sweep();
      }
    },
    [Symbol.asyncDispose]: () => board[Symbol.asyncDispose](),
  };
}

async function claimOutside({ boards, jobId, id }: Awaited<ReturnType<typeof open>>, leaseMs: number) {
  const taskId = id('outside');
  const claimed = await boards.claim(jobId, {
    taskId,
    owner: { kind: 'external', id: 'bob' },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs,
  });
  return { jobId, taskId, token: claimed?.token ?? '' };
}

const claimAgent = ({ board, jobId, id }: { board: BoardFixture; jobId: string; id(name: string): string }) =>
  board.claim(jobId, id('agent'), 'worker-1', 30_000);

it('a lease of three seconds outlives seven in which nobody swept, and its holder goes on', async () => {
  await using at = await open();
  const hold = await claimOutside(at, 3000);
  await at.away(7000);
  expect(await at.statusOf('outside')).toBe('in_progress');
  await at.pass(2000);
  await at.boards.heartbeat(hold);
  await at.pass(2500);
  expect(await at.statusOf('outside')).toBe('in_progress');
});

it('a holder that stays silent has one whole lease of its own from the end of the gap', async () => {
  await using at = await open();
  await claimOutside(at, 3000);
  await at.away(7000);
  await at.pass(2500);
  expect(await at.statusOf('outside')).toBe('in_progress');
  await at.pass(1000);
  expect(await at.statusOf('outside')).toBe('pending');
});

it('a lease that was to end soon after the gap has a whole length from its end, too', async () => {
  await using at = await open();
  await claimOutside(at, 3000);
  await at.away(2800);
  expect(await at.statusOf('outside')).toBe('in_progress');
  await at.pass(2500);
  expect(await at.statusOf('outside')).toBe('in_progress');
  await at.pass(1000);
  expect(await at.statusOf('outside')).toBe('pending');
});

it('a pause shorter than a heartbeat and a sweep puts no lease off', async () => {
  await using at = await open();
  await claimAgent(at);
  await at.pass(24_000);
  await at.away(7400);
  expect(await at.statusOf('agent')).toBe('pending');
});

it('a pause longer than that gives built-in attempts a whole lease', async () => {
  await using at = await open();
  await claimAgent(at);
  await at.pass(24_000);
  await at.away(9000);
  expect(await at.statusOf('agent')).toBe('in_progress');
  await at.pass(29_000);
  expect(await at.statusOf('agent')).toBe('in_progress');
  await at.pass(1500);
  expect(await at.statusOf('agent')).toBe('pending');
});

it('a long gap is not forgotten for a short one right after it', async () => {
  await using at = await open();
  await claimAgent(at);
  await at.away(28_000);
  await at.away(3000);
  await at.pass(20_000);
  expect(await at.statusOf('agent')).toBe('in_progress');
});

it('sweeps that are all late put an end off once, not for ever', async () => {
  await using at = await open();
  await claimOutside(at, 3000);
  const rounds: string[] = [];
  for (let round = 0; round < 4; round++) {
    await at.away(4000);
    rounds.push(await at.statusOf('outside'));
  }
  expect(rounds).toEqual(['in_progress', 'pending', 'pending', 'pending']);
});

it('without a gap a lost holder is replaced when its lease is over', async () => {
  await using at = await open();
  await claimAgent(at);
  await at.pass(29_500);
  expect(await at.statusOf('agent')).toBe('in_progress');
  await at.pass(1000);
  expect(await at.statusOf('agent')).toBe('pending');
});
