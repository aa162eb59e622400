import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

const MODEL = 'some-model';
const REASON = `provider: ${MODEL} answers nobody (529)`;
const PARK = { delayMs: 600_000, reason: REASON, strikesToFail: 'kept' } as const;

async function park(board: BoardFixture, jobId: string, taskId: string) {
  const held = await board.claim(jobId, taskId);
  await board.boards.park(held.hold, newSecret(), PARK);
  return { taskId, attempt: held.task.attempt };
}

async function typesOf({ boards }: BoardFixture, jobId: string) {
  return (await boards.events(jobId, '0-0', 1000)).map(({ type }) => type);
}

describe('a model that is down', () => {
  it('is marked once, shows with the job, and is forgotten when its tasks are woken', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    expect(await boards.markModelDown(jobId, MODEL, REASON)).toBe(true);
    expect(await boards.markModelDown(jobId, MODEL, 'another reason')).toBe(false);
    expect((await boards.job(jobId)).modelDown).toBe(REASON);
    const task = await park(board, jobId, ids.a ?? '');
    expect(await boards.task(jobId, task.taskId)).toMatchObject({ readiness: { state: 'scheduled' } });
    expect(await boards.wakeParked(jobId, MODEL, [task])).toEqual([]);
    expect(await boards.wakeParked(jobId, MODEL, [task])).toEqual([]);
    expect((await boards.job(jobId)).modelDown).toBeUndefined();
    expect(await boards.task(jobId, task.taskId)).toMatchObject({ readiness: { state: 'ready' } });
    const outbox = await boards.readOutbox(jobId, 10);
    expect(outbox.filter(({ attempt }) => attempt === task.attempt)).toHaveLength(1);
    const rate = (await typesOf(board, jobId)).filter((type) => type.startsWith('rate.'));
    expect(rate).toEqual(['rate.opened', 'rate.closed']);
    await boards.index.addLive(jobId);
    expect((await boards.examine(jobId)).findings).toEqual([]);
  });

  it('wakes the attempt that parked and no other: one that still runs is to be woken later', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const running = await board.claim(jobId, ids.a ?? '');
    const parked = await park(board, jobId, ids.b ?? '');
    const early = { taskId: ids.a ?? '', attempt: running.task.attempt };
    expect(await boards.wakeParked(jobId, MODEL, [early, { ...parked, attempt: 7 }])).toEqual([ids.a]);
    expect(await boards.task(jobId, parked.taskId)).toMatchObject({ readiness: { state: 'scheduled' } });
  });

  it('wakes a lead, too, though not before a pause of its job is over', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job([], { lead: true });
    const lead = (await boards.job(jobId)).lead ?? '';
    const first = await park(board, jobId, lead);
    expect(await boards.wakeParked(jobId, MODEL, [first])).toEqual([]);
    const second = await park(board, jobId, lead);
    await boards.pauseJob(jobId, ANN, 'user', 'lunch');
    await boards.wakeParked(jobId, MODEL, [second]);
    await boards.resumeJob(jobId, ANN);
    await boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 30_000 });
    expect(await board.claim(jobId, lead)).toMatchObject({ task: { attempt: 3 } });
  });

  it('leaves ended jobs as they are', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const { hold, task } = await board.claim(jobId, ids.a ?? '');
    await boards.submit(hold, 's', task.version, { summary: 'done', artifacts: [], evidence: [] });
    const before = await typesOf(board, jobId);
    expect(await boards.markModelDown(jobId, MODEL, REASON)).toBe(false);
    expect(await boards.wakeParked(jobId, MODEL, [{ taskId: task.id, attempt: task.attempt }])).toEqual([]);
    expect(await typesOf(board, jobId)).toEqual(before);
  });
});

describe('a brake', () => {
  it('is told once each', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId } = await board.job([{ title: 'A' }]);
    const brake = { from: 1000, until: 4000, reason: '429' };
    expect(await boards.markBrake(jobId, MODEL, brake)).toBe(true);
    expect(await boards.markBrake(jobId, MODEL, { ...brake, until: 5000 })).toBe(false);
    expect(await boards.markBrake(jobId, MODEL, { ...brake, from: 9000 })).toBe(true);
    const events = (await boards.events(jobId, '0-0', 1000)).filter(({ type }) => type === 'rate.braked');
    expect(events.map(({ data }) => data)).toEqual([
      { model: MODEL, until: '1970-01-01T00:00:04.000Z', reason: '429' },
      { model: MODEL, until: '1970-01-01T00:00:04.000Z', reason: '429' },
    ]);
    expect((await boards.job(jobId)).modelDown).toBeUndefined();
  });
});

describe('strikes', () => {
  it('are neither taken nor forgotten by a park that is nobody’s doing', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    const end = async (strikesToFail: number | 'kept') => {
      const held = await board.claim(jobId, ids.a ?? '');
      await boards.park(held.hold, newSecret(), { delayMs: 0, reason: 'overloaded', strikesToFail });
      return (await boards.task(jobId, ids.a ?? '')).status;
    };
    for (const strikes of [2, 'kept', 'kept'] as const) expect(await end(strikes)).toBe('pending');
    expect(await end(2)).toBe('failed');
  });
});
