import type { Counts, NewJournalEntry } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { gate, hang, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { isLead, taskIdIn } from './support/conversation.ts';

const SETTLES_WITHIN_MS = 5000;

function expectToAddUp(counts: Counts): void {
  const { total, pending, in_progress, in_review, blocked, completed, failed, cancelled } = counts;
  expect(pending + in_progress + in_review + blocked + completed + failed + cancelled).toBe(total);
  expect(counts.ready + counts.waiting + counts.scheduled + counts.unreachable + counts.held).toBe(pending);
}

async function untilCancelled(stack: LocalStack, jobId: string): Promise<void> {
  const types: string[] = [];
  for await (const { type } of stack.client.jobs.events(jobId)) types.push(type);
  expect(types.filter((type) => type.startsWith('job.')).at(-1)).toBe('job.cancelled');
  expect(types.at(-1)).toBe('job.cancelled');
}

const cancel = (stack: LocalStack, jobId: string, body?: object) =>
  stack.call('POST', `/v1/jobs/${jobId}/cancel`, body);

test('a running job is cancelled at once: calls are cut off, none starts later, what is done stays', async () => {
  await using model = await startScriptedApi((request, call) =>
    call <= 3 ? reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]) : hang(),
  );
  await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const tasks = Array.from({ length: 20 }, (_, i) => ({
    title: `Task ${i}`,
    key: `${i}`,
    ...(i < 15 ? {} : { dependsOn: ['14'] }),
  }));
  const { id } = await stack.client.jobs.submit({ tasks, limits: { maxParallel: 4 } });
  await model.arrived(7);

  const sentAt = performance.now();
  const answer = await cancel(stack, id, { reason: 'the wrong folder' });
  expect(answer).toMatchObject({ status: 200, json: { id } });
  await Promise.all(model.requests.slice(3).map(({ ended }) => ended));
  expect(performance.now() - sentAt).toBeLessThan(SETTLES_WITHIN_MS);
  await untilCancelled(stack, id);
  expect(performance.now() - sentAt).toBeLessThan(SETTLES_WITHIN_MS);

  const job = await stack.client.jobs.get(id);
  expect(job).toMatchObject({ status: 'cancelled', statusReason: 'the wrong folder' });
  expect(job.counts).toMatchObject({ total: 20, completed: 3, cancelled: 17, in_progress: 0, pending: 0 });
  expectToAddUp(job.counts);
  // A dispatch left over would be taken now: the queues have nothing, and no call came after the last one.
  const calls = model.requests.length;
  const queued = (await stack.keys()).filter((key) =>
    /:crewboard\.(tasks|lead):(wait|active|delayed|prioritized)$/.test(key),
  );
  expect(queued).toEqual([]);
  expect(calls).toBe(7);
  for (const { atMs } of model.requests) expect(atMs).toBeLessThan(sentAt);

  const again = await cancel(stack, id, { reason: 'once more' });
  expect(again).toMatchObject({
    status: 200,
    json: { status: 'cancelled', statusReason: 'the wrong folder' },
  });
  const results = await stack.call('GET', `/v1/jobs/${id}/results.jsonl`);
  expect(results.text.trimEnd().split('\n')).toHaveLength(20);
});

test('two hundred running tasks are cancelled at once by many requests, and no call starts after that', {
  timeout: 120_000,
}, async () => {
  const RUNNING = 200;
  await using model = await startScriptedApi(() => hang());
  await using stack = await openLocalStack({
    provider: { url: model.url, key: 'k' },
    variables: { CREWBOARD_CONCURRENCY: String(RUNNING) },
  });
  const tasks = Array.from({ length: 2 * RUNNING }, (_, i) => ({ title: `Task ${i}` }));
  const { id } = await stack.client.jobs.submit({ tasks, limits: { maxParallel: RUNNING } });
  await model.arrived(RUNNING);
  const sentAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => cancel(stack, id, { reason: 'enough' })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await Promise.all(model.requests.map(({ ended }) => ended));
  await untilCancelled(stack, id);
  expect(performance.now() - sentAt).toBeLessThan(SETTLES_WITHIN_MS);
  expect((await cancel(stack, id)).status).toBe(200);
  const { counts } = await stack.client.jobs.get(id);
  expect(counts).toMatchObject({ total: 2 * RUNNING, cancelled: 2 * RUNNING });
  expectToAddUp(counts);
  expect(model.requests).toHaveLength(RUNNING);
  const boards = boardsOf(stack);
  const all = await boards.events(id, '0-0', 5000);
  expect(all.filter(({ type }) => type === 'task.cancelled')).toHaveLength(2 * RUNNING);
  expect(all.filter(({ type }) => type === 'job.cancelled')).toHaveLength(1);
});

test('a cancelled lead gets no further call, though the board had news for it', async () => {
  const held = gate(reply([toolUse('board_wait')]));
  await using model = await startScriptedApi((request) => {
    if (isLead(request)) return held;
    return reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]);
  });
  await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const { id } = await stack.client.jobs.submit({ goal: 'Lead.', tasks: [{ title: 'A' }] });
  await held.reached;
  expect((await cancel(stack, id)).status).toBe(200);
  expect((await cancel(stack, id)).status).toBe(200);
  held.open();
  await untilCancelled(stack, id);
  const leads = model.requests.filter(({ body }) => isLead(body));
  expect(leads).toHaveLength(1);
  expect(await leads[0]?.ended).toBe('aborted');
  expectToAddUp((await stack.client.jobs.get(id)).counts);
});

test('what a holder writes after the cancel is refused and changes nothing', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { id } = await stack.client.jobs.submit({
    tasks: [
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ],
  });
  const [a, b] = (await stack.client.tasks.list(id)).tasks;
  const boards = boardsOf(stack);
  const taskId = a?.id ?? '';
  const claimed = await boards.claim(id, {
    taskId,
    owner: { kind: 'sub-agent', id: 'late' },
    secret: 'secret',
    requestId: 'claim',
    leaseMs: 60_000,
  });
  const hold = { jobId: id, taskId, token: claimed?.token ?? '' };
  expect((await cancel(stack, id)).status).toBe(200);
  await untilCancelled(stack, id);

  const result = { summary: 'Too late.', artifacts: [], evidence: [] };
  const version = claimed?.task.version ?? 0;
  await expect(boards.submit(hold, 'submit', version, result)).rejects.toMatchObject({ code: 'lease_lost' });
  await expect(boards.note(hold, 'note', 'Too late.')).rejects.toMatchObject({ code: 'lease_lost' });
  await expect(boards.heartbeat(hold, 60_000)).rejects.toMatchObject({ code: 'lease_lost' });
  const journal = await boards.openJournal(hold, { attempt: 1 });
  const entry: NewJournalEntry = { kind: 'message', texts: ['Too late.'] };
  await expect(journal.append(entry)).rejects.toMatchObject({ code: 'lease_lost' });

  expect(await stack.client.jobs.get(id)).toMatchObject({ counts: { total: 2, cancelled: 2 } });
  const task = await stack.client.tasks.get(id, taskId);
  expect(task).toMatchObject({ status: 'cancelled', attempt: 1, failures: 0 });
  expect(task).not.toHaveProperty('result');
  expect(await stack.client.tasks.get(id, b?.id ?? '')).toMatchObject({ status: 'cancelled', attempt: 0 });
  expect(await stack.dump()).not.toContain('Too late.');
});

test('cancelling what is not there, or what has ended, does no harm', async () => {
  await using stack = await openLocalStack();
  expect(await cancel(stack, 'job_zzzzzzzzzzzz')).toMatchObject({ status: 404, json: { code: 'not_found' } });
  const { id } = await stack.run({ tasks: [{ title: 'A' }] });
  expect(await cancel(stack, id)).toMatchObject({ status: 200, json: { status: 'succeeded' } });
});
