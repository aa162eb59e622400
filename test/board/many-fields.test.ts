import { expect, test } from 'vitest';
import { boardFixtureOn } from '../support/board.ts';
import { openTestRedis } from '../support/redis.ts';

const MANY = 600;

test('adding many tasks at once stores what they are, and nothing else', async () => {
  await using store = openTestRedis();
  const { boards, job } = boardFixtureOn(store.redis, store.prefix);
  const { jobId } = await job([{ key: 'first', title: 'First' }]);
  const tasks = Array.from({ length: MANY }, (_, i) => ({
    key: `k${i}`,
    title: `Task ${i}`,
    instructions: 'Do it.',
    dependsOn: [i === 0 ? 'first' : `k${i - 1}`],
  }));
  await boards.add(jobId, { by: { kind: 'user', id: 'u' }, maxAttempts: 3, tasks });
  const fields = async (key: 'keys' | 'body' | 'deps' | 'unmet' | 'edges') =>
    store.redis.hkeys(boards.keys.board(jobId, key));
  expect((await fields('keys')).sort()).toEqual(['first', ...tasks.map(({ key }) => key)].sort());
  for (const key of ['body', 'deps', 'unmet', 'edges'] as const) {
    const named = await fields(key);
    expect(named).toHaveLength(MANY);
    expect(named.filter((field) => !field.startsWith('t_'))).toEqual([]);
  }
  const { findings } = await boards.examine(jobId, {});
  expect(findings.filter(({ check }) => check !== 'live')).toEqual([]);
});
