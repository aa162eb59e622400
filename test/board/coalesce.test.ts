import { createHash } from 'node:crypto';
import { newSecret } from '@crewboard/contracts';
import { describe, expect, test, vi } from 'vitest';
import { scriptSource } from '../../packages/board/src/scripts.ts';
import { boardFixtureOn } from '../support/board.ts';
import { openTestRedis } from '../support/redis.ts';

const TASKS = 80;
const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const tasks = Array.from({ length: TASKS }, (_, i) => ({
  key: `k${i}`,
  title: `Task ${i}`,
  ...(i >= TASKS / 2 ? { dependsOn: [`k${i - TASKS / 2}`] } : {}),
}));
const owner = (id: string) => ({ kind: 'sub-agent' as const, id });

/** A board of two rows of tasks, the second behind the first, and how many scripts its calls have become. */
async function openRows() {
  const store = openTestRedis();
  const board = boardFixtureOn(store.redis, store.prefix);
  const { jobId, ids } = await board.job(tasks, { limits: { maxParallel: TASKS } });
  const scripts = vi.spyOn(store.redis, 'call');
  const idOf = (i: number) => ids[`k${i}`] ?? '';
  const claim = (taskId: string, by = 'a') =>
    board.boards.claim(jobId, {
      taskId,
      owner: owner(by),
      secret: newSecret(),
      requestId: newSecret(),
      leaseMs: 60_000,
    });
  return { ...board, store, jobId, idOf, claim, scripts };
}

type Rows = Awaited<ReturnType<typeof openRows>>;

/** What the doctor finds, but that no sweeper runs here. */
async function damage({ boards, jobId }: Rows) {
  const { findings } = await boards.examine(jobId, {});
  return findings.filter(({ check }) => check !== 'live');
}

async function claimFirstRow({ jobId, idOf, claim }: Rows) {
  const claimed = await Promise.all(Array.from({ length: TASKS / 2 }, (_, i) => claim(idOf(i))));
  return claimed.map((each, i) => ({
    version: each?.task.version ?? 0,
    hold: { jobId, taskId: idOf(i), token: each?.token ?? '' },
  }));
}

describe('calls of one board that come together', () => {
  test('become few scripts, and each gets its own answer', async () => {
    const rows = await openRows();
    await using _ = rows.store;
    const { boards, jobId, idOf, claim, scripts } = rows;
    const answers = await Promise.allSettled([
      ...Array.from({ length: TASKS / 2 }, (_, i) => claim(idOf(i))),
      claim(idOf(0), 'b'),
      claim(idOf(TASKS - 1)),
      claim('t_22222222'),
    ]);
    const sha = createHash('sha1').update(scriptSource('claim', true)).digest('hex');
    expect(scripts.mock.calls.filter((call) => JSON.stringify(call).includes(sha))).toHaveLength(2);
    const won = answers.slice(0, TASKS / 2).map((each) => each.status === 'fulfilled' && each.value?.task.id);
    expect(won).toEqual(Array.from({ length: TASKS / 2 }, (_, i) => idOf(i)));
    const refused = answers.slice(TASKS / 2).map((each) => each.status === 'rejected' && each.reason.code);
    expect(refused).toEqual(['already_claimed', 'not_ready', 'not_found']);
    expect((await boards.job(jobId)).counts).toMatchObject({ in_progress: TASKS / 2, waiting: TASKS / 2 });
    expect(await damage(rows)).toEqual([]);
  });

  test('settle, dispatch and log as they would one after the other', async () => {
    const rows = await openRows();
    await using _ = rows.store;
    const { boards, jobId, idOf } = rows;
    const held = await claimFirstRow(rows);
    const answers = await Promise.allSettled([
      ...held.map(({ hold, version }, i) =>
        boards.submit(hold, 's', i === 3 ? version + 1 : version, RESULT),
      ),
      ...held.slice(0, 2).map(({ hold, version }) => boards.submit(hold, 's', version, RESULT)),
    ]);
    expect(answers.map(({ status }) => status).indexOf('rejected')).toBe(3);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(TASKS / 2 + 1);
    const { counts } = await boards.job(jobId);
    expect(counts).toMatchObject({
      completed: TASKS / 2 - 1,
      in_progress: 1,
      waiting: 1,
      ready: TASKS / 2 - 1,
    });
    expect(await rows.store.redis.zcard(boards.keys.board(jobId, 'window'))).toBe(TASKS / 2);
    const completed = (await boards.events(jobId, '0-0', 500)).filter(
      ({ type }) => type === 'task.completed',
    );
    expect(completed.map(({ taskId }) => taskId)).toEqual(
      held.flatMap(({ hold }, i) => (i === 3 ? [] : [hold.taskId])),
    );
    expect((await boards.task(jobId, idOf(TASKS / 2 + 3))).readiness).toMatchObject({ state: 'waiting' });
    expect(await damage(rows)).toEqual([]);
  });

  test('go on when the server has lost its scripts', async () => {
    const rows = await openRows();
    await using _ = rows.store;
    const held = await claimFirstRow(rows);
    await rows.store.redis.script('FLUSH');
    await Promise.all(held.map(({ hold, version }) => rows.boards.submit(hold, 's', version, RESULT)));
    expect((await rows.boards.job(rows.jobId)).counts).toMatchObject({ completed: TASKS / 2 });
  });

  test('end the job with the last of them', async () => {
    const rows = await openRows();
    await using _ = rows.store;
    const { boards, jobId, idOf, claim } = rows;
    for (const row of [0, 1]) {
      const claimed = await Promise.all(
        Array.from({ length: TASKS / 2 }, (_, i) => claim(idOf(row * (TASKS / 2) + i))),
      );
      await Promise.all(
        claimed.map((each) =>
          boards.submit(
            { jobId, taskId: each?.task.id ?? '', token: each?.token ?? '' },
            's',
            each?.task.version ?? 0,
            RESULT,
          ),
        ),
      );
    }
    expect(await boards.job(jobId)).toMatchObject({ status: 'succeeded', counts: { completed: TASKS } });
  });
});
