import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { followEvents } from '../../packages/orchestrator/src/follow-events.ts';
import { createTurns } from '../../packages/orchestrator/src/turns.ts';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';
import { fillLog } from '../support/fill-log.ts';

/** Events that a follower reads at once. */
const PAGE = 100;

test('a stream that waits again and again leaves nothing behind on its signal', async () => {
  await using fixture = await openBoardFixture();
  const { boards } = fixture;
  const { jobId, ids } = await fixture.job([{ key: 'a', title: 'A' }]);
  const { hold } = await fixture.claim(jobId, ids.a ?? '');
  let grown = () => {};
  const hub = {
    follow(_jobId: string, _after: string, onGrowth: () => void) {
      grown = onGrowth;
      return { after: () => undefined, leave() {} };
    },
    turns: createTurns(),
    close() {},
  };
  const leaving = new AbortController();
  const waits = () => getEventListeners(leaving.signal, 'abort').length;
  const stream = followEvents(
    { boards, hub, seeJob: () => boards.job(jobId) },
    jobId,
    { after: 'now' },
    leaving.signal,
  );
  expect((await stream.next()).value).toMatchObject({ kind: 'place' });
  for (let i = 1; i <= 12; i++) {
    const next = stream.next();
    await expect.poll(waits, { interval: 1 }).toBe(1);
    await boards.note(hold, `n/${i}`, `Note ${i}`);
    grown();
    expect((await next).value).toMatchObject({ event: { type: 'task.noted' } });
    expect(waits()).toBe(0);
  }
  const last = stream.next();
  await expect.poll(waits, { interval: 1 }).toBe(1);
  leaving.abort();
  expect(await last).toEqual({ done: true, value: undefined });
});

/** A job of one task that is done, its log filled up with `notes`. */
async function endedJob(fixture: BoardFixture, notes: number) {
  const { boards } = fixture;
  const { jobId, ids } = await fixture.job([{ key: 'a', title: 'A' }]);
  const taskId = ids.a ?? '';
  await fillLog(fixture, jobId, { taskId }, notes);
  const { hold, task } = await fixture.claim(jobId, taskId);
  await boards.submit(hold, 's', task.version, { summary: 'done', artifacts: [], evidence: [] });
  return { jobId, taskId, log: await boards.events(jobId, '0-0', 1000) };
}

test('a page that ends with the end of the job by chance is followed by what reopened it', async () => {
  await using fixture = await openBoardFixture();
  const { boards } = fixture;
  const short = await endedJob(fixture, 0);
  const { jobId, taskId, log } = await endedJob(fixture, PAGE - short.log.length);
  expect([log.length, log.at(-1)?.type]).toEqual([PAGE, 'job.succeeded']);
  const { version } = await boards.task(jobId, taskId);
  await boards.change(jobId, { by: ANN, maxAttempts: 3, reopens: [{ taskId, version, reason: 'again' }] });
  const hub = {
    follow: () => ({ after: () => undefined, leave() {} }),
    turns: createTurns(),
    close() {},
  };
  const leaving = new AbortController();
  const seen: string[] = [];
  const followed = { boards, hub, seeJob: () => boards.job(jobId) };
  for await (const item of followEvents(followed, jobId, { after: '0-0' }, leaving.signal)) {
    if (item.kind === 'event') seen.push(item.event.type);
    if (seen.at(-1) === 'task.reopened') leaving.abort();
  }
  expect(seen.length).toBeGreaterThan(PAGE);
});
