import type { Boards } from '@crewboard/board';
import { newSecret } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import type { EventHub } from '../../packages/orchestrator/src/event-hub.ts';
import { followEvents } from '../../packages/orchestrator/src/follow-events.ts';
import type { LogPlace } from '../../packages/orchestrator/src/service.ts';
import { createTurns } from '../../packages/orchestrator/src/turns.ts';
import { ANN, openBoardFixture } from '../support/board.ts';

/** A hub that knows of nothing: the follower reads the log by itself. */
function quietHub() {
  let grown = () => {};
  return {
    follow(_jobId: string, _after: string, onGrowth: () => void) {
      grown = onGrowth;
      return { after: () => undefined, leave() {} };
    },
    turns: createTurns(),
    close() {},
    tell: () => grown(),
  };
}

const followOn = (boards: Boards, hub: EventHub, jobId: string, from: LogPlace) =>
  followEvents({ boards, hub, seeJob: () => boards.job(jobId) }, jobId, from, AbortSignal.timeout(60_000));

test('a follower from now on is told at once where that is', async () => {
  await using fixture = await openBoardFixture();
  const { jobId } = await fixture.job([{ key: 'a', title: 'A' }]);
  const { asOf } = await fixture.boards.job(jobId);
  const stream = followOn(fixture.boards, quietHub(), jobId, { after: 'now' });
  expect((await stream.next()).value).toEqual({ kind: 'place', id: asOf });
  await stream.return(undefined);
});

test('a follower is told its place now and then, not for each event that is left out', async () => {
  await using fixture = await openBoardFixture();
  const { boards } = fixture;
  const { jobId, ids } = await fixture.job([{ key: 'a', title: 'A' }]);
  const { hold } = await fixture.claim(jobId, ids.a ?? '');
  const hub = quietHub();
  const filter = { types: ['task.failed'] };
  const stream = followOn(boards, hub, jobId, { filter });
  const startedAt = performance.now();
  const first = (await stream.next()).value;
  for (let i = 0; i < 30; i++) {
    await boards.note(hold, newSecret(), `Note ${i}`);
    hub.tell();
  }
  const { asOf } = await boards.job(jobId);
  const places = [first];
  for await (const item of stream) {
    places.push(item);
    if (item.kind === 'place' && item.id === asOf) break;
  }
  expect(places.every((item) => item?.kind === 'place')).toBe(true);
  expect(places.length).toBeLessThanOrEqual((performance.now() - startedAt) / 1000 + 1);
});

test('a filter hides neither the end of a job nor that it was reopened', async () => {
  await using fixture = await openBoardFixture();
  const { boards } = fixture;
  const { jobId, ids } = await fixture.job([{ key: 'a', title: 'A' }]);
  const result = { summary: 'Done.', artifacts: [], evidence: [] };
  const work = async () => {
    const { hold, task } = await fixture.claim(jobId, ids.a ?? '');
    return boards.submit(hold, newSecret(), task.version, result);
  };
  const { version } = await work();
  const reopens = [{ taskId: ids.a ?? '', version, reason: 'once more' }];
  await boards.change(jobId, { by: ANN, reopens });
  await work();
  const seen: string[] = [];
  const filter = { types: ['task.failed'] };
  const stream = followOn(boards, quietHub(), jobId, { filter });
  for await (const item of stream) if (item.kind === 'event') seen.push(item.event.type);
  expect(seen).toEqual(['job.succeeded', 'job.reopened', 'job.succeeded']);
});
