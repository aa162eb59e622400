import { describe, expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  gate,
  lastResults,
  type MessagesRequest,
  overloaded,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { isLead, taskIdIn } from './support/conversation.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const submit = (request: MessagesRequest) =>
  reply([toolUse('board_submit', { taskId: taskIdIn(request), summary: 'Done.' })]);
const note = (request: MessagesRequest) =>
  reply([toolUse('board_note', { taskId: taskIdIn(request), text: 'half of it' })]);
const isNew = ({ messages }: MessagesRequest) => messages.length === 1;

async function untilEnded({ client }: LocalStack, jobId: string) {
  for await (const _ of client.jobs.events(jobId)) {
    // Followed for its end alone.
  }
  return client.jobs.get(jobId);
}

const eventsOf = async ({ client }: LocalStack, jobId: string) =>
  (await client.jobs.listEvents(jobId, { limit: 100 })).events;
const untilParked = (stack: LocalStack, jobId: string, count = 1) =>
  poll(async () => (await eventsOf(stack, jobId)).filter(({ type }) => type === 'task.parked').length).toBe(
    count,
  );
const untilPaused = (stack: LocalStack, jobId: string) =>
  poll(async () => (await stack.client.jobs.get(jobId)).counts.in_progress).toBe(0);

/** What a pause must leave no trace of in a task. */
async function expectUnharmed(stack: LocalStack, jobId: string, attempts: number): Promise<void> {
  const boards = boardsOf(stack);
  const { tasks } = await boards.page(jobId, { after: 0, limit: 100 });
  for (const { id } of tasks) {
    expect(await boards.task(jobId, id)).toMatchObject({
      status: 'completed',
      failures: 0,
      attempt: attempts,
    });
    const journal = await boards.readJournal(jobId, id);
    // The conversation was gone on with: one opening, and no call twice.
    expect(journal.filter(({ kind }) => kind === 'start')).toEqual([]);
    const results = journal.flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : []));
    expect(new Set(results).size).toBe(results.length);
  }
}

describe('a pause by a person', () => {
  it('parks agents after their current call, and a resume lets them go on with their conversations', async () => {
    const held = [gate(reply([])), gate(reply([]))];
    let first = 0;
    await using model = await startScriptedApi((request) => {
      if (!isNew(request)) return submit(request);
      const gated = held[first++];
      if (gated === undefined) return note(request);
      gated.reply = note(request);
      return gated;
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: [{ title: 'A' }, { title: 'B' }, { title: 'C' }],
      limits: { maxParallel: 2 },
    });
    await model.arrived(2);
    const paused = await stack.client.jobs.pause(id, 'lunch');
    expect(paused).toMatchObject({ status: 'paused', pauses: ['user'], statusReason: 'user: lunch' });
    expect(await stack.client.jobs.pause(id, 'again')).toMatchObject({ statusReason: 'user: lunch' });
    for (const gated of held) gated.open();
    await untilPaused(stack, id);
    expect(await stack.client.jobs.get(id)).toMatchObject({
      status: 'paused',
      version: 1,
      counts: { pending: 3, held: 3, ready: 0, in_progress: 0, failed: 0 },
    });
    // Their calls were answered and their tools have run; no further call was made.
    expect(model.requests).toHaveLength(2);
    const events = await eventsOf(stack, id);
    expect(events.filter(({ type }) => type === 'task.noted')).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'task.parked').map(({ data }) => data?.reason)).toEqual([
      'the job is paused',
      'the job is paused',
    ]);

    expect(await stack.client.jobs.resume(id, 'back')).toMatchObject({ status: 'running', pauses: [] });
    const job = await untilEnded(stack, id);
    expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 3 } });
    expect(model.requests).toHaveLength(6);
    const boards = boardsOf(stack);
    const { tasks } = await boards.page(id, { after: 0, limit: 10 });
    expect(tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual([
      [2, 0],
      [2, 0],
      [1, 0],
    ]);
  });

  it('reaches a worker by its heartbeat when the news of it got lost', async () => {
    const held = gate(reply([]));
    await using model = await startScriptedApi((request) => {
      if (!isNew(request)) return submit(request);
      held.reply = note(request);
      return held;
    });
    await using stack = await openLocalStack({
      provider: { url: model.url, key: 'k' },
      variables: { CREWBOARD_LEASE_MS: '2000' },
    });
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
    await held.reached;
    const boards = boardsOf(stack);
    const lease = boards.keys.board(id, 'lease');
    // By the board alone: nothing is published.
    await boards.pauseJob(id, { kind: 'user', id: 'ann' }, 'user', 'lunch');
    const beats = async () => (await stack.store.redis.zrange(lease, '0', '-1', 'WITHSCORES'))[1];
    // Two heartbeats later the first of them was answered.
    for (let times = 0; times < 2; times++) {
      const at = await beats();
      await poll(beats).not.toBe(at);
    }
    held.open();
    await untilParked(stack, id);
    expect(model.requests).toHaveLength(1);
    await stack.client.jobs.resume(id);
    expect((await untilEnded(stack, id)).status).toBe('succeeded');
    await expectUnharmed(stack, id, 2);
  });

  it('lets a submit through: what is done is not put off', async () => {
    const held = gate(reply([]));
    await using model = await startScriptedApi((request) => {
      held.reply = submit(request);
      return held;
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: [
        { key: 'a', title: 'A' },
        { title: 'B', dependsOn: ['a'] },
      ],
    });
    await held.reached;
    await stack.client.jobs.pause(id);
    held.open();
    await poll(async () => (await stack.client.jobs.get(id)).counts.completed).toBe(1);
    expect(await stack.client.jobs.get(id)).toMatchObject({
      status: 'paused',
      statusReason: 'user: paused by a person',
      counts: { pending: 1, held: 1 },
    });
    expect(model.requests).toHaveLength(1);
    await stack.client.jobs.resume(id);
    await poll(async () => (await stack.client.jobs.get(id)).status).toBe('succeeded');
  });

  it('stops agents that wait for a model that does not answer', async () => {
    await using model = await startScriptedApi((request, call) =>
      call <= 2 ? overloaded() : submit(request),
    );
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
    await model.arrived(1);
    await stack.client.jobs.pause(id);
    await untilParked(stack, id);
    const calls = model.requests.length;
    expect(calls).toBeLessThanOrEqual(2);
    await stack.client.jobs.resume(id);
    expect((await untilEnded(stack, id)).status).toBe('succeeded');
    await expectUnharmed(stack, id, 2);
  });

  it('parks the lead, which goes on after the resume with what has happened meanwhile', async () => {
    const held = gate(reply([toolUse('board_list')]));
    const answers: string[] = [];
    await using model = await startScriptedApi((request) => {
      if (!isLead(request)) return submit(request);
      if (isNew(request)) return held;
      answers.push(...lastResults(request).map(({ text }) => text));
      const isWaiting = answers.some((text) => text.includes('"allSettled":true'));
      return reply([
        toolUse(isWaiting ? 'finish_job' : 'board_wait', isWaiting ? { summary: 'All done.' } : {}),
      ]);
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      goal: 'Lead.',
      tasks: [{ title: 'Outside', executor: 'external' }],
    });
    await held.reached;
    await stack.client.jobs.pause(id);
    held.open();
    await untilParked(stack, id);
    expect(model.requests).toHaveLength(1);
    await stack.client.jobs.resume(id);
    await poll(() => model.requests.length).toBe(2);
    const claim = await stack.client.tasks.claim(id, { owner: 'x' });
    if (claim.task === null) throw new Error('nothing was claimed');
    await stack.client.tasks.submit(id, claim.task.id, {
      claimToken: claim.claimToken,
      version: claim.task.version,
      summary: 'Done outside.',
    });
    expect(await untilEnded(stack, id)).toMatchObject({ status: 'succeeded' });
    const boards = boardsOf(stack);
    const { lead = '' } = await boards.job(id);
    expect(await boards.task(id, lead)).toMatchObject({ status: 'completed', failures: 0 });
  });

  it('does not keep people and programs from ending what they hold, and refuses new claims', async () => {
    await using stack = await openLocalStack({ worker: false });
    const task = { title: 'Outside', executor: 'external' as const };
    const { id } = await stack.client.jobs.submit({ tasks: [task, { ...task, labels: ['x'] }] });
    const claim = await stack.client.tasks.claim(id, { owner: 'x' });
    if (claim.task === null) throw new Error('nothing was claimed');
    await stack.client.jobs.pause(id);
    for (const body of [{ owner: 'y' }, { owner: 'y', labels: ['x'] }]) {
      const answer = await stack.call('POST', `/v1/jobs/${id}/tasks/claim`, body);
      expect(answer).toMatchObject({ status: 409, json: { code: 'board_paused', retry: 'later' } });
    }
    const call = { claimToken: claim.claimToken, version: claim.task.version };
    await stack.client.tasks.heartbeat(id, claim.task.id, call);
    const done = await stack.client.tasks.submit(id, claim.task.id, { ...call, summary: 'Done.' });
    expect(done.status).toBe('completed');
    expect(await stack.client.jobs.get(id)).toMatchObject({ status: 'paused', counts: { completed: 1 } });
    expect(
      await stack.client.tasks.why(id, (await stack.client.tasks.list(id)).tasks[1]?.id ?? ''),
    ).toMatchObject({
      text: expect.stringContaining('the job is paused (user: paused by a person)'),
      readiness: { state: 'held', cause: 'pause' },
    });
  });

  it('is no failure however often it comes', async () => {
    let calls = 0;
    await using model = await startScriptedApi((request) => {
      calls += 1;
      return calls <= 6 ? note(request) : submit(request);
    });
    await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
    const { id } = await stack.client.jobs.submit({
      tasks: [{ title: 'A', limits: { maxTurns: 20 } }],
      limits: { maxAttempts: 1 },
    });
    for (let times = 1; times <= 4; times++) {
      await model.arrived(times);
      const { status } = await stack.client.jobs.get(id);
      if (status !== 'running') break;
      await stack.client.jobs.pause(id);
      await untilPaused(stack, id);
      await stack.client.jobs.resume(id);
    }
    expect((await untilEnded(stack, id)).status).toBe('succeeded');
    const [task] = (await stack.client.tasks.list(id)).tasks;
    expect(task).toMatchObject({ status: 'completed', failures: 0 });
  });
});
