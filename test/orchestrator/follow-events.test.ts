import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { followEvents } from '../../packages/orchestrator/src/follow-events.ts';
import { createTurns } from '../../packages/orchestrator/src/turns.ts';
import { openBoardFixture } from '../support/board.ts';

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
