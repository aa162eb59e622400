import { projectTodos } from '@crewboard/checklist';
import { describe, expect, it } from 'vitest';
import { ownTask, titleOf } from '../regression/support.ts';
import { gate, httpError, lastResults, reply, text, toolUse } from '../support/scripted-messages-api.ts';
import { type LeadStack, lastTexts, openLeadStack, timesIn } from './support.ts';

const WORD = 'Leave the generated files out.';
const submit = (request: Parameters<typeof ownTask>[0]) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
const wait = () => reply([toolUse('board_wait')]);
const finish = () => reply([toolUse('finish_job', { summary: 'done' })]);

/** A claim from outside of the only task. */
async function claimOutside({ local: { client } }: LeadStack, jobId: string, leaseMs: number) {
  const claim = await client.tasks.claim(jobId, { owner: 'laptop', leaseMs });
  if (claim.task === null) throw new Error('nothing was claimed');
  const { claimToken, task } = claim;
  return {
    claimToken,
    taskId: task.id,
    version: task.version,
    heartbeat: (requestId?: string) =>
      client.tasks.heartbeat(jobId, task.id, {
        claimToken,
        ...(requestId === undefined ? {} : { requestId }),
      }),
  };
}

/** A job of one task that a program outside holds. */
async function openOutside({ leaseMs = 60_000 } = {}) {
  const stack = await openLeadStack({});
  const jobId = await stack.submit({ tasks: [{ title: 'One', executor: 'external' }] });
  const held = await claimOutside(stack, jobId, leaseMs);
  return {
    ...held,
    stack,
    jobId,
    message: (text: string) => stack.local.client.jobs.message(jobId, { text, target: held.taskId }),
    delivered: () => stack.events(jobId, 'message.delivered'),
    examine: () => stack.boards.examine(jobId),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

describe('a message to the agent of a task', () => {
  it('stands once in its next request, and the receipt names attempt and turn', async () => {
    const held = gate(reply([toolUse('board_list')]));
    await using stack = await openLeadStack({
      subAgent: (request, turn) =>
        turn === 0 ? held : turn === 1 ? reply([toolUse('board_list')]) : submit(request),
    });
    const jobId = await stack.submit({ tasks: [{ title: 'One' }] });
    await held.reached;
    const [task] = (await stack.local.client.tasks.list(jobId)).tasks;
    const sent = await stack.local.call('POST', `/v1/jobs/${jobId}/messages`, {
      text: WORD,
      target: task?.id,
    });
    expect(sent.status).toBe(202);
    held.open();
    await stack.until(jobId, 'succeeded');
    const requests = stack.requests('sub-agents');
    expect(requests.map((request) => timesIn(request, WORD))).toEqual([0, 1, 1]);
    expect(lastTexts(requests[1] ?? { model: '', max_tokens: 0, messages: [] })).toHaveLength(1);
    const { messageId } = Object(sent.json);
    const [accepted] = await stack.events(jobId, 'message.accepted');
    expect(accepted).toMatchObject({ taskId: task?.id, data: { messageId, text: WORD } });
    expect(await stack.events(jobId, 'message.delivered')).toMatchObject([
      { taskId: task?.id, attempt: 1, data: { messageId, turn: 2 } },
    ]);
  });

  it('that waits for its turn is told to its first attempt', async () => {
    const held = gate(reply([toolUse('board_list')]));
    await using stack = await openLeadStack({
      subAgent: (request, turn) => (turn === 0 && titleOf(request) === 'One' ? held : submit(request)),
    });
    const jobId = await stack.submit({
      tasks: [
        { key: 'a', title: 'One' },
        { key: 'b', title: 'Two', dependsOn: ['a'] },
      ],
    });
    await held.reached;
    const second = (await stack.local.client.tasks.list(jobId)).tasks[1];
    await stack.local.client.jobs.message(jobId, { text: WORD, target: second?.id });
    held.open();
    await stack.until(jobId, 'succeeded');
    const told = stack.requests('sub-agents').filter((request) => timesIn(request, WORD) > 0);
    expect(told.map((request) => [request.messages.length, timesIn(request, WORD)])).toEqual([[1, 1]]);
  });

  it('begins a new user turn: the panel of the checklist starts over [row 120]', async () => {
    const todos = [{ content: 'Look', status: 'in_progress' }];
    const held = gate(reply([toolUse('board_list')]));
    await using stack = await openLeadStack({
      subAgent: (request, turn) =>
        turn === 0 ? reply([toolUse('todo_write', { todos })]) : turn === 1 ? held : submit(request),
    });
    const jobId = await stack.submit({ tasks: [{ title: 'One' }] });
    await held.reached;
    const taskId = (await stack.local.client.tasks.list(jobId)).tasks[0]?.id ?? '';
    expect(projectTodos(await stack.boards.readJournal(jobId, taskId))).toHaveLength(1);
    await stack.local.client.jobs.message(jobId, { text: WORD, target: taskId });
    held.open();
    await stack.until(jobId, 'succeeded');
    expect(projectTodos(await stack.boards.readJournal(jobId, taskId))).toBeNull();
  });

  it('is not lost with the checklist when the conversation is compacted without a summary [row 123]', async () => {
    const todos = [
      { content: 'ALPHA of the work', status: 'in_progress' },
      { content: 'BETA of the work', status: 'pending' },
    ];
    const held = gate(reply([toolUse('board_list')]));
    let refused = false;
    await using stack = await openLeadStack({
      subAgent: (request, turn) => {
        if (timesIn(request, 'will be replaced by your summary') > 0) return reply([]);
        if (timesIn(request, 'were left out to make room') > 0) return submit(request);
        if (turn === 0) return reply([toolUse('todo_write', { todos })]);
        if (turn === 1) return held;
        if (turn < 5) return reply([toolUse('board_list', { limit: turn })]);
        refused = true;
        return httpError(400, 'invalid_request_error', {}, 'prompt is too long: 9 tokens > 8 maximum');
      },
    });
    const jobId = await stack.submit({ tasks: [{ title: 'One' }] });
    await held.reached;
    const taskId = (await stack.local.client.tasks.list(jobId)).tasks[0]?.id ?? '';
    await stack.local.client.jobs.message(jobId, { text: WORD, target: taskId });
    held.open();
    await stack.until(jobId, 'succeeded');
    expect(refused).toBe(true);
    const after = stack.requests('sub-agents').at(-1);
    const times = ['[>] ALPHA of the work', '[ ] BETA of the work', WORD].map((item) =>
      after === undefined ? 0 : timesIn(after, item),
    );
    expect(times).toEqual([1, 1, 1]);
    expect(projectTodos(await stack.boards.readJournal(jobId, taskId))).toBeNull();
  });

  it('is known to the attempt that begins anew after a failure', async () => {
    const held = gate(reply([toolUse('board_list')]));
    let attempts = 0;
    await using stack = await openLeadStack({
      subAgent: (request, turn) => {
        if (turn === 0) return ++attempts === 1 ? held : submit(request);
        return reply([toolUse('board_fail', { taskId: ownTask(request), reason: 'no' })]);
      },
    });
    const jobId = await stack.submit({ tasks: [{ title: 'One' }] });
    await held.reached;
    const target = (await stack.local.client.tasks.list(jobId)).tasks[0]?.id;
    await stack.local.client.jobs.message(jobId, { text: WORD, target });
    held.open();
    await stack.until(jobId, 'succeeded');
    expect(stack.requests('sub-agents').map((request) => timesIn(request, WORD))).toEqual([0, 1, 1]);
    expect(await stack.events(jobId, 'message.delivered')).toHaveLength(1);
  });

  it('that has ended goes to the lead, which is woken and told whom it was for', async () => {
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0)
          return reply([
            toolUse('board_plan', {
              ops: [
                { op: 'add', key: 'a', title: 'One' },
                { op: 'add', key: 'b', title: 'For people', executor: 'human' },
              ],
            }),
          ]);
        return timesIn(request, WORD) > 0 && turn > 1
          ? reply([text('understood'), toolUse('board_wait')])
          : wait();
      },
      subAgent: (request) => submit(request),
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await expect.poll(async () => (await stack.local.client.jobs.get(jobId)).counts.completed).toBe(1);
    const [task] = (await stack.local.client.tasks.list(jobId, { status: 'completed' })).tasks;
    await stack.local.client.jobs.message(jobId, { text: WORD, target: task?.id });
    await expect.poll(() => stack.requests('lead').some((request) => timesIn(request, WORD) > 0)).toBe(true);
    const told = stack.requests('lead').find((request) => timesIn(request, WORD) > 0);
    expect(told === undefined ? [] : lastTexts(told)).toEqual([
      expect.stringMatching(new RegExp(`^<message id="msg_\\w{12}" from="admin" for="${task?.id}">\n`)),
    ]);
    const accepted = await stack.events(jobId, 'message.accepted');
    expect(accepted.map(({ data }) => data?.passedFrom)).toEqual([undefined, task?.id]);
  });

  it('that has ended in a job without a lead expires, with the reason', async () => {
    await using stack = await openLeadStack({ subAgent: (request) => submit(request) });
    const jobId = await stack.submit({ tasks: [{ title: 'One' }, { title: 'Two', executor: 'human' }] });
    await expect.poll(async () => (await stack.local.client.jobs.get(jobId)).counts.completed).toBe(1);
    const [task] = (await stack.local.client.tasks.list(jobId, { status: 'completed' })).tasks;
    const { messageId } = await stack.local.client.jobs.message(jobId, { text: WORD, target: task?.id });
    expect(await stack.events(jobId, 'message.expired')).toMatchObject([
      { taskId: task?.id, data: { messageId, reason: expect.stringContaining('has ended') } },
    ]);
    const lead = await stack.local.call('POST', `/v1/jobs/${jobId}/messages`, { text: WORD });
    expect(lead.json).toMatchObject({ code: 'invalid_argument', detail: expect.stringContaining('no lead') });
  });

  it('that a program outside holds comes with the answer of its heartbeat, once', async () => {
    await using stack = await openLeadStack({});
    const jobId = await stack.submit({ tasks: [{ title: 'One', executor: 'external' }] });
    const { client } = stack.local;
    const claim = await client.tasks.claim(jobId, { owner: 'laptop' });
    if (claim.task === null) throw new Error('nothing was claimed');
    await client.jobs.message(jobId, { text: WORD, target: claim.task.id });
    const { claimToken } = claim;
    const first = await client.tasks.heartbeat(jobId, claim.task.id, { claimToken });
    expect(first.notices).toEqual([expect.stringContaining(WORD)]);
    expect((await client.tasks.heartbeat(jobId, claim.task.id, { claimToken })).notices).toEqual([]);
    expect(await stack.events(jobId, 'message.delivered')).toHaveLength(1);
  });

  it('comes again to a holder outside that repeats its heartbeat, and is delivered by the next one', async () => {
    await using outside = await openOutside();
    const { heartbeat, delivered, message } = outside;
    await message(WORD);
    const shown = [expect.stringContaining(WORD)];
    expect((await heartbeat('beat 1')).notices).toEqual(shown);
    await message('LATER WORD');
    expect((await heartbeat('beat 1')).notices).toEqual(shown);
    expect(await delivered()).toEqual([]);
    expect((await heartbeat('beat 2')).notices).toEqual([expect.stringContaining('LATER WORD')]);
    expect(await delivered()).toHaveLength(1);
    expect((await heartbeat()).notices).toEqual([]);
    expect(await delivered()).toHaveLength(2);
    expect(await outside.examine()).toMatchObject({ remaining: 0 });
  });

  it('that a holder outside was shown is delivered by its note, or its result: nothing of it is left over', async () => {
    await using outside = await openOutside();
    const { stack, jobId, taskId, claimToken, version } = outside;
    await outside.message(WORD);
    await outside.heartbeat('beat 1');
    await stack.local.client.tasks.note(jobId, taskId, { claimToken, text: 'I have read it' });
    expect(await outside.delivered()).toHaveLength(1);
    await outside.message('ANOTHER WORD');
    await outside.heartbeat('beat 2');
    await stack.local.client.tasks.submit(jobId, taskId, { claimToken, version, summary: 'done' });
    expect(await outside.delivered()).toHaveLength(2);
    expect(await stack.events(jobId, 'message.expired')).toEqual([]);
    const { redis } = stack.local.store;
    expect(await redis.hgetall(stack.boards.keys.board(jobId, 'messages'))).toEqual({});
    expect(await outside.examine()).toMatchObject({ remaining: 0 });
  });

  it('that a holder outside was shown and may not have got comes to the next one', async () => {
    await using outside = await openOutside({ leaseMs: 300 });
    const { stack, jobId } = outside;
    await outside.message(WORD);
    await outside.heartbeat('beat 1');
    const statusNow = async () => (await stack.local.client.jobs.get(jobId)).counts.ready;
    await expect.poll(statusNow, { timeout: 10_000 }).toBe(1);
    expect(await outside.delivered()).toEqual([]);
    const next = await claimOutside(stack, jobId, 60_000);
    const answer = await next.heartbeat('beat 1');
    expect(answer.notices).toEqual([expect.stringContaining(WORD)]);
    await next.heartbeat();
    expect(await outside.delivered()).toHaveLength(1);
  });
});

describe('a message to the lead', () => {
  it('wakes it, and follows the answer of its wait', async () => {
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0)
          return reply([toolUse('board_plan', { ops: [{ op: 'add', title: 'One', executor: 'human' }] })]);
        if (timesIn(request, WORD) === 0) return wait();
        const taskId = /t_[2-9a-z]{8}/.exec(JSON.stringify(request.messages))?.[0];
        return reply([toolUse('finish_job', { summary: 'stopped', waive: [{ taskId, reason: 'told so' }] })]);
      },
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await expect.poll(() => stack.requests('lead').length).toBe(2);
    await stack.local.client.jobs.message(jobId, { text: WORD });
    await stack.until(jobId, 'partial');
    const last = stack.requests('lead').at(-1);
    if (last === undefined) throw new Error('no request');
    expect(JSON.parse(lastResults(last)[0]?.text ?? '')).toMatchObject({
      news: [],
      messages: [expect.stringMatching(/^msg_/)],
    });
    expect(lastTexts(last)).toEqual([expect.stringContaining(WORD)]);
  });

  it('that comes while it finishes is told first: the job ends only then', async () => {
    const held = gate(finish());
    await using stack = await openLeadStack({
      lead: (_, turn) => {
        if (turn === 0) return reply([toolUse('board_plan', { ops: [{ op: 'add', title: 'One' }] })]);
        if (turn === 1) return wait();
        return turn === 2 ? held : finish();
      },
      subAgent: (request) => submit(request),
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await held.reached;
    await stack.local.client.jobs.message(jobId, { text: WORD, target: 'lead' });
    held.open();
    await stack.until(jobId, 'succeeded');
    expect(stack.requests('lead').map((request) => timesIn(request, WORD))).toEqual([0, 0, 0, 1]);
  });

  it('300 of them are told in portions of 20 KB, each once and in order', async () => {
    const held = gate(reply([toolUse('board_list')]));
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0) return held;
        return lastTexts(request).length > 0
          ? reply([toolUse('board_list', { limit: 1 + (turn % 50) })])
          : reply([toolUse('finish_job', { summary: `turn ${turn}` })]);
      },
    });
    const jobId = await stack.submit({ goal: 'Do it', limits: { maxTurns: 200 } });
    await held.reached;
    const send = (i: number) =>
      stack.boards.sendMessage(jobId, {
        by: { kind: 'user', id: 'ann' },
        text: `${i}: ${'x'.repeat(500)}`,
        request: { key: `m${i}`, content: String(i) },
      });
    const ids: string[] = [];
    for (let i = 0; i < 300; i++) ids.push(await send(i));
    expect(await send(299)).toBe(ids[299]);
    held.open();
    await stack.until(jobId, 'succeeded');
    const told = stack.requests('lead').map(lastTexts);
    const texts = told.flat().filter((one) => one.startsWith('<message'));
    expect(texts.map((one) => /id="(msg_\w+)"/.exec(one)?.[1])).toEqual(ids);
    const bytes = told.map((some) =>
      Buffer.byteLength(some.filter((one) => one.startsWith('<message')).join('')),
    );
    expect(Math.max(...bytes)).toBeLessThan(30_000);
    expect(await stack.events(jobId, 'message.delivered')).toHaveLength(300);
  });

  it('is refused when 500 wait, and all that wait expire with the job, before its last event', async () => {
    const held = gate(wait());
    await using stack = await openLeadStack({ lead: () => held });
    const jobId = await stack.submit({ goal: 'Do it' });
    await held.reached;
    const by = { kind: 'user', id: 'ann' } as const;
    for (let i = 0; i < 500; i++) await stack.boards.sendMessage(jobId, { by, text: 'x' });
    await expect(stack.boards.sendMessage(jobId, { by, text: 'x' })).rejects.toMatchObject({
      code: 'limit_exceeded',
    });
    expect(await stack.boards.examine(jobId)).toMatchObject({ remaining: 0 });
    await stack.local.client.jobs.cancel(jobId);
    await stack.until(jobId, 'cancelled');
    expect(await stack.events(jobId, 'message.expired')).toHaveLength(500);
    expect((await stack.boards.events(jobId, '0-0', 5000)).at(-1)?.type).toBe('job.cancelled');
    await expect(stack.boards.sendMessage(jobId, { by, text: 'x' })).rejects.toMatchObject({
      code: 'terminal',
    });
    held.open();
  });
});
