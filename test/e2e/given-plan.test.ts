import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BoardEvent,
  type Job,
  JobBody,
  type ResultLine,
  ResultLine as ResultLineSchema,
} from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';

async function readPlan() {
  const text = await readFile(join(EXAMPLES, 'given-plan.json'), 'utf8');
  const { tasks = [], ...body } = JobBody.parse(JSON.parse(text));
  return { ...body, tasks, workspace: { path: join(EXAMPLES, 'docs') } };
}

async function eventsOf(stack: LocalStack, job: Job): Promise<BoardEvent[]> {
  const events: BoardEvent[] = [];
  for await (const event of stack.client.jobs.events(job.id)) events.push(event);
  return events;
}

async function resultsOf(stack: LocalStack, job: Job): Promise<ResultLine[]> {
  const answer = await stack.call('GET', `/v1/jobs/${job.id}/results.jsonl`);
  expect(answer.type).toBe('application/x-ndjson; charset=utf-8');
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => ResultLineSchema.parse(JSON.parse(line)));
}

const ENDS = new Set(['task.completed', 'task.failed', 'task.cancelled']);

test('given-plan.json succeeds without a lead, each task after what it needs, one result a task in plan order', async () => {
  await using stack = await openLocalStack();
  const plan = await readPlan();
  const job = await stack.run(plan);
  expect(job).toMatchObject({
    status: 'succeeded',
    simulated: true,
    counts: { total: plan.tasks.length, completed: plan.tasks.length, failed: 0, cancelled: 0 },
  });

  const lines = await resultsOf(stack, job);
  expect(lines.map(({ key, title, number, status }) => ({ key, title, number, status }))).toEqual(
    plan.tasks.map(({ key, title }, i) => ({ key, title, number: i + 1, status: 'completed' })),
  );

  const events = await eventsOf(stack, job);
  const keyOf = new Map(lines.map(({ taskId, key }) => [taskId, key]));
  const at = (key: string, types: ReadonlySet<string>) =>
    events.findIndex(({ taskId, type }) => keyOf.get(taskId ?? '') === key && types.has(type));
  const claimed = new Set(['task.claimed']);
  let edges = 0;
  for (const { key = '', dependsOn = [] } of plan.tasks) {
    for (const dependency of dependsOn) {
      const needed = typeof dependency === 'string' ? dependency : dependency.task;
      expect(at(needed, ENDS), `${needed} ended`).toBeGreaterThanOrEqual(0);
      expect(at(key, claimed), `${key} after ${needed}`).toBeGreaterThan(at(needed, ENDS));
      edges++;
    }
  }
  expect(edges).toBeGreaterThanOrEqual(10);
  expect(events.map(({ by }) => by.kind)).not.toContain('lead');
  // Every task is claimed by a worker of ours, never more at once than the plan allows.
  const running = events.reduce(
    ({ now, most }, { type }) => {
      const next = now + (type === 'task.claimed' ? 1 : ENDS.has(type) ? -1 : 0);
      return { now: next, most: Math.max(most, next) };
    },
    { now: 0, most: 0 },
  );
  expect(running.now).toBe(0);
  expect(running.most).toBeLessThanOrEqual(plan.limits?.maxParallel ?? 0);
  expect(running.most).toBeGreaterThan(1);
});

test('a task behind a failed one is unreachable and the job ends partial, but a settled edge is met', async () => {
  await using stack = await openLocalStack();
  const job = await stack.run({
    workspace: { path: join(EXAMPLES, 'docs') },
    limits: { maxAttempts: 1 },
    tasks: [
      { key: 'lost', title: 'Read a page that is not there', input: { path: 'none.md' } },
      { key: 'behind', title: 'Build on it', dependsOn: ['lost'] },
      { key: 'farther', title: 'Build on that', dependsOn: ['behind'] },
      { key: 'after', title: 'Come after it', dependsOn: [{ task: 'lost', condition: 'settled' }] },
      { key: 'dropped', title: 'Go with it', dependsOn: ['lost'], onDependencyLost: 'cancel' },
    ],
  });
  expect(job).toMatchObject({
    status: 'partial',
    counts: {
      total: 5,
      completed: 1,
      failed: 1,
      cancelled: 1,
      pending: 2,
      unreachable: 1,
      waiting: 1,
      ready: 0,
    },
  });
  const [lost, behind, farther, after, dropped] = await resultsOf(stack, job);
  expect(lost).toMatchObject({
    status: 'failed',
    failure: { class: 'model', reason: expect.stringContaining('none.md') },
  });
  expect([behind, farther, after, dropped].map((line) => line?.status)).toEqual([
    'pending',
    'pending',
    'completed',
    'cancelled',
  ]);
  const { tasks } = await stack.client.tasks.list(job.id, { readiness: 'unreachable' });
  expect(tasks).toMatchObject([
    { key: 'behind', readiness: { state: 'unreachable', because: [lost?.taskId] } },
  ]);
  const types = (await eventsOf(stack, job)).filter(({ type }) => type === 'task.unreachable');
  expect(types).toHaveLength(1);
});
