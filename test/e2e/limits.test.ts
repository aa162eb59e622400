import { describe, expect, it } from 'vitest';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  gate,
  hang,
  type MessagesRequest,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { taskIdIn } from './support/conversation.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const submit = (request: MessagesRequest) =>
  reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]);
const note = (request: MessagesRequest) =>
  reply([toolUse('board_note', { taskId: taskIdIn(request), text: 'more' })]);
const fail = (request: MessagesRequest) =>
  reply([toolUse('board_fail', { taskId: taskIdIn(request), reason: 'can not', retryable: false })]);
const titles = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));

async function untilEnded({ client }: LocalStack, jobId: string) {
  for await (const _ of client.jobs.events(jobId)) {
    // Followed for its end alone.
  }
  return client.jobs.get(jobId);
}

const patch = (stack: LocalStack, id: string, body: object) => stack.call('PATCH', `/v1/jobs/${id}`, body);

describe('PATCH of a job', () => {
  it('needs the version that was seen, and answers the job with its new limits', async () => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit({ tasks: titles(1), limits: { maxFailures: 3 } });
    const limits = { maxTurns: 7, jobTimeoutMs: 60_000, maxFailures: null };
    const edited = await patch(stack, id, { version: 1, limits });
    expect(edited).toMatchObject({
      status: 200,
      json: { version: 2, limits: { maxTurns: 7, jobTimeoutMs: 60_000, maxParallel: 8 } },
    });
    expect(edited.text).not.toContain('maxFailures');
    expect(await patch(stack, id, { version: 1, limits: { maxTurns: 9 } })).toMatchObject({
      status: 409,
      json: {
        code: 'stale_version',
        detail: 'the job has changed: it is at version 2 now. Nothing was changed.',
        current: { version: 2 },
        retry: 'after_refresh',
      },
    });
    expect(await stack.client.jobs.get(id)).toMatchObject({ version: 2, limits: { maxTurns: 7 } });
  });

  it.each([
    ['nothing', { version: 1, limits: {} }, 'limits'],
    ['a version that is missing', { limits: { maxTurns: 1 } }, 'version'],
    ['a limit out of range', { version: 1, limits: { maxParallel: 0 } }, 'limits.maxParallel'],
    ['a limit that a job must have', { version: 1, limits: { maxTasks: null } }, 'limits.maxTasks'],
    ['a field that is no limit', { version: 1, limits: { maxTurn: 1 } }, 'limits.maxTurn'],
    ['a budget of nothing', { version: 1, limits: { budgetUsd: 0 } }, 'limits.budgetUsd'],
  ])('refuses %s and says where', async (_, body, path) => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit({ tasks: titles(1) });
    expect(await patch(stack, id, body)).toMatchObject({
      status: 400,
      json: { code: 'invalid_argument', path },
    });
    expect((await stack.client.jobs.get(id)).version).toBe(1);
  });

  it('lets a raised maxParallel start more tasks at once, also in a worker that knows the job', async () => {
    await using model = await startScriptedApi(() => hang());
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({ tasks: titles(6), limits: { maxParallel: 1 } });
    await model.arrived(1);
    await stack.client.jobs.edit(id, { version: 1, limits: { maxParallel: 4 } });
    await model.arrived(4);
    expect((await stack.client.jobs.get(id)).counts).toMatchObject({ in_progress: 4, ready: 2 });
    await stack.client.jobs.cancel(id);
    await untilEnded(stack, id);
  });

  it('holds for attempts that begin after it: turns, and attempts of tasks', async () => {
    const held = gate(reply([]));
    await using model = await startScriptedApi((request, call) => {
      if (call > 1) return note(request);
      held.reply = fail(request);
      return held;
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: titles(2),
      limits: { maxParallel: 1, maxAttempts: 1, maxTurns: 50 },
    });
    await held.reached;
    // The worker has the job in its memory by now; the second task's attempt begins under the new limits.
    await stack.client.jobs.edit(id, { version: 1, limits: { maxTurns: 2, maxAttempts: 1 } });
    held.open();
    expect(await untilEnded(stack, id)).toMatchObject({ status: 'failed', counts: { failed: 2 } });
    const [, second] = (await stack.client.tasks.list(id)).tasks;
    expect(second?.failure).toMatchObject({ class: 'model', reason: expect.stringContaining('2 turns') });
    expect(model.requests).toHaveLength(3);
  });

  it('is refused by an ended job', async () => {
    await using stack = await openLocalStack();
    const { id } = await stack.run({ tasks: titles(1) });
    const edit = await patch(stack, id, { version: 1, limits: { maxTurns: 9 } });
    expect(edit).toMatchObject({ status: 409, json: { code: 'terminal' } });
  });
});

describe('limits of a job', () => {
  it('of failures pause it with the cause, and a resume goes on', async () => {
    let failed = 0;
    await using model = await startScriptedApi((request) =>
      ++failed <= 2 ? fail(request) : submit(request),
    );
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: titles(6),
      limits: { maxFailures: 2, maxParallel: 1 },
    });
    await poll(async () => (await stack.client.jobs.get(id)).status).toBe('paused');
    expect(await stack.client.jobs.get(id)).toMatchObject({
      pauses: ['failures'],
      statusReason: 'failures: 2 tasks failed (maxFailures 2)',
      counts: { failed: 2, pending: 4, held: 4 },
    });
    expect(model.requests).toHaveLength(2);
    await stack.client.jobs.resume(id);
    expect(await untilEnded(stack, id)).toMatchObject({
      status: 'partial',
      counts: { completed: 4, failed: 2 },
    });
  });

  it('of time end it: calls are cut off, what is done stays, and the reason says why', async () => {
    await using model = await startScriptedApi((request, call) => (call === 1 ? submit(request) : hang()));
    await using stack = await openLocalStack({
      provider: { url: model.url, key: 'k' },
      variables: { CREWBOARD_LEASE_MS: '1000' },
    });
    const { id } = await stack.client.jobs.submit({
      tasks: titles(4),
      limits: { jobTimeoutMs: 4000, maxParallel: 2 },
    });
    const job = await untilEnded(stack, id);
    expect(job).toMatchObject({
      status: 'partial',
      statusReason: 'timeout: the job was active for its jobTimeoutMs of 4000',
      counts: { completed: 1, cancelled: 3 },
    });
    expect(await Promise.all(model.requests.slice(1).map(({ ended }) => ended))).not.toContain('answered');
  });

  it('of time for a task count across a pause what it was at work, and not the pause', async () => {
    let calls = 0;
    const held = gate(reply([]));
    await using model = await startScriptedApi((request) => {
      calls += 1;
      if (calls > 1) return hang();
      held.reply = note(request);
      return held;
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: titles(1),
      limits: { taskTimeoutMs: 4000, maxAttempts: 1 },
    });
    await held.reached;
    const began = performance.now();
    await poll(() => performance.now() - began).toBeGreaterThan(2500);
    await stack.client.jobs.pause(id);
    held.open();
    await poll(async () => (await stack.client.jobs.get(id)).counts.in_progress).toBe(0);
    // Longer than all that is left of it.
    const paused = performance.now();
    await poll(() => performance.now() - paused).toBeGreaterThan(1600);
    await stack.client.jobs.resume(id);
    expect(await untilEnded(stack, id)).toMatchObject({ status: 'failed', counts: { failed: 1 } });
    expect(model.requests).toHaveLength(2);
    const [task] = (await stack.client.tasks.list(id)).tasks;
    expect(task).toMatchObject({ attempt: 2, failures: 1, failure: { class: 'timeout' } });
    const { attempts } = await stack.client.tasks.attempts(id, task?.id ?? '');
    const [first = 0, second = 0] = attempts.map(
      ({ startedAt, endedAt = startedAt }) => Date.parse(endedAt) - Date.parse(startedAt),
    );
    // The second had what was left: together they make one time limit, and it had no whole one of its own.
    expect(first + second).toBeGreaterThanOrEqual(3900);
    expect(second).toBeLessThan(3500);
  });
});
