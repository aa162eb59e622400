import { Queue } from 'bullmq';
import { expect, inject, it } from 'vitest';
import type { Answer } from '../support/held-model.ts';
import { allText } from '../support/scripted-messages-api.ts';
import { openStack, type Stack } from '../support/stack.ts';
import { eventsByTask, expectHonestCounts, whilePolling } from './support/job-record.ts';

/** The embedded server copies values at each access: a tenth shows the same there. */
const TASKS = inject('redisKind') === 'embedded' ? 200 : 2000;
const PARALLEL = 20;
const PAYLOAD_BYTES_MOST = 2048;

/** One turn a task: it is submitted at once. */
const submitAtOnce: Answer = (request) => {
  const [, taskId = ''] = /"taskId":"(t_[^"]+)"/.exec(allText(request)) ?? [];
  const input = { taskId, summary: 'done' };
  const call = { type: 'tool_use', id: `toolu_${taskId}`, name: 'board_submit', input };
  const usage = {
    input_tokens: 100,
    output_tokens: 10,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  return { content: [call], stopReason: 'tool_use', usage };
};

/** What of the job is on its way, seen in one moment. */
async function snapshot({ store, boards }: Stack, queue: Queue, jobId: string) {
  const [window, waiting, prioritized, delayed, active] =
    (await store.redis
      .multi()
      .zrange(boards.keys.board(jobId, 'window'), '0', '-1')
      .lrange(queue.toKey('wait'), 0, -1)
      .zrange(queue.toKey('prioritized'), '0', '-1')
      .zrange(queue.toKey('delayed'), '0', '-1')
      .lrange(queue.toKey('active'), 0, -1)
      .exec()) ?? [];
  const list = (reply: [Error | null, unknown] | undefined) =>
    Array.isArray(reply?.[1]) ? reply[1].map(String) : [];
  return {
    window: list(window),
    queued: [waiting, prioritized, delayed].flatMap(list),
    active: list(active),
  };
}

it(`runs ${TASKS} tasks of one request to their end, ${PARALLEL} at a time, over two workers`, {
  timeout: 120_000,
}, async () => {
  await using stack = await openStack({
    answer: submitAtOnce,
    variables: { CREWBOARD_CONCURRENCY: '12', CREWBOARD_LEASE_MS: '30000', CREWBOARD_LOG_LEVEL: 'warn' },
  });
  await Promise.all([stack.startWorker(), stack.startWorker()]);
  const connection = stack.store.redis.duplicate();
  const queue = new Queue('crewboard.tasks', { connection, prefix: stack.store.prefix });
  const tasks = Array.from({ length: TASKS }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` }));
  const { id } = await stack.client.jobs.submit({ tasks, limits: { maxParallel: PARALLEL } });
  const most = { window: 0, queued: 0, running: 0 };
  const payloads = new Map<string, string>();
  const { value: job, polls } = await whilePolling(stack.untilEnded(id), async () => {
    const { counts } = await stack.client.jobs.get(id);
    expectHonestCounts(counts);
    expect(counts.total).toBe(TASKS);
    const { window, queued, active } = await snapshot(stack, queue, id);
    most.window = Math.max(most.window, window.length);
    most.queued = Math.max(most.queued, queued.length);
    most.running = Math.max(most.running, counts.in_progress);
    for (const queueJob of [...queued, ...active]) {
      const data = payloads.has(queueJob)
        ? null
        : await stack.store.redis.hget(queue.toKey(queueJob), 'data');
      if (data !== null) payloads.set(queueJob, data);
    }
  });
  await queue.close();
  connection.disconnect();

  expect(job).toMatchObject({ status: 'succeeded', counts: { total: TASKS, completed: TASKS } });
  expect(most.window).toBeLessThanOrEqual(PARALLEL);
  expect(most.running).toBeLessThanOrEqual(PARALLEL);
  expect(most.queued).toBeLessThanOrEqual(PARALLEL);
  expect(polls).toBeGreaterThan(5);
  expect(payloads.size).toBeGreaterThan(PARALLEL);
  for (const payload of payloads.values()) {
    expect(Buffer.byteLength(payload)).toBeLessThan(PAYLOAD_BYTES_MOST);
    const { taskId, ...rest } = JSON.parse(payload);
    expect(taskId).toMatch(/^t_\w{8}$/);
    expect(rest).toEqual({ v: 1, jobId: id, attempt: 0 });
  }
  const events = await stack.boards.events(id, '0-0', TASKS * 10);
  const completed = eventsByTask({ events }, 'task.completed');
  expect(Object.keys(completed)).toHaveLength(TASKS);
  expect(Object.values(completed).every((times) => times === 1)).toBe(true);
  expect(stack.model.requests).toHaveLength(TASKS);
});
