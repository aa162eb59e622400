import type { BoardEvent } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { type MessagesRequest, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { taskIdIn } from './support/conversation.ts';

const CONCURRENCY = 4;
const BIG_JOBS = 10;
const BIG = 100;
const PARALLEL = 8;

const submit = (request: MessagesRequest) =>
  reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]);
const titles = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));
const timeOf = ({ id }: BoardEvent) => Number(id.split('-')[0]);

async function untilEnded({ client }: LocalStack, jobId: string) {
  for await (const _ of client.jobs.events(jobId)) {
    // Followed for its end alone.
  }
}

it('a job of five starts at once beside ten of a hundred', { timeout: 180_000 }, async () => {
  await using model = await startScriptedApi(submit);
  await using stack = await openLocalStack({
    provider: { url: model.url, key: 'k' },
    variables: { CREWBOARD_CONCURRENCY: String(CONCURRENCY) },
  });
  const boards = boardsOf(stack);
  const claimsOf = async (jobId: string) =>
    (await boards.events(jobId, '0-0', 2000)).filter(({ type }) => type === 'task.claimed').map(timeOf);
  const big = await Promise.all(
    Array.from({ length: BIG_JOBS }, () =>
      stack.client.jobs.submit({ tasks: titles(BIG), limits: { maxParallel: PARALLEL } }),
    ),
  );
  // Beyond the first fill of their windows.
  await model.arrived(BIG_JOBS * PARALLEL);
  const small = await stack.client.jobs.submit({ tasks: titles(5) });
  await untilEnded(stack, small.id);

  const events = await boards.events(small.id, '0-0', 1000);
  const submittedAt = Math.min(...events.filter(({ type }) => type === 'job.submitted').map(timeOf));
  const lastClaim = Math.max(...(await claimsOf(small.id)));
  const claims = (await Promise.all(big.map(({ id }) => claimsOf(id)))).flat();
  const between = claims.filter((at) => at > submittedAt && at <= lastClaim);
  // By turns alone all that the others had queued, some seventy, would have been before it.
  expect(between.length).toBeLessThan(BIG_JOBS * (PARALLEL - 1) * 0.5);
  const jobs = await Promise.all(big.map(({ id }) => stack.client.jobs.get(id)));
  for (const { status, counts } of jobs) {
    expect(status).toBe('running');
    expect(counts.completed).toBeGreaterThan(0);
  }
  await Promise.all(big.map(({ id }) => stack.client.jobs.cancel(id)));
  for (const { id } of big) await untilEnded(stack, id);
});

it('the tasks of one job start by their priority, then in their order', async () => {
  await using model = await startScriptedApi(submit);
  await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const priorities = [2, 4, 0, 2, 1, 0, 3];
  const { id } = await stack.client.jobs.submit({
    tasks: priorities.map((priority, i) => ({ key: `${i}`, title: `Task ${i}`, priority })),
    limits: { maxParallel: 1 },
  });
  await untilEnded(stack, id);
  const { tasks } = await stack.client.tasks.list(id);
  const keys = new Map(tasks.map((task) => [task.id, task.key]));
  const { events } = await stack.client.jobs.listEvents(id, { limit: 100 });
  const order = events
    .filter(({ type }) => type === 'task.claimed')
    .map(({ taskId }) => keys.get(taskId ?? ''));
  expect(order).toEqual(['2', '5', '4', '0', '3', '6', '1']);
});
