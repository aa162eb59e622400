import { describe, expect, it } from 'vitest';
import { ownTask } from '../regression/support.ts';
import {
  allText,
  gate,
  lastResults,
  type MessagesRequest,
  reply,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { type AgentScript, lastTexts, openLeadStack, timesIn } from './support.ts';

const submit: AgentScript = (request) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
const fail: AgentScript = (request) =>
  reply([toolUse('board_fail', { taskId: ownTask(request), reason: 'no', retryable: false })]);
const wait = () => reply([toolUse('board_wait')]);
const say = () => reply([text('I am done, I think.')]);
const add = (...tasks: object[]) =>
  reply([toolUse('board_plan', { ops: tasks.map((task) => ({ op: 'add', ...task })) })]);
const finish = (waive: object[] = []) => reply([toolUse('finish_job', { summary: 'done', waive })]);
const isSettled = (request: MessagesRequest) =>
  lastResults(request).some((result) => result.text.includes('"allSettled":true'));

describe('a turn of the lead in plain text', () => {
  it('is a wait while a task runs: the lead is woken when all is settled', async () => {
    await using stack = await openLeadStack({
      lead: (request, turn) =>
        turn === 0 ? add({ title: 'One' }) : timesIn(request, '<news>') > 0 ? finish() : say(),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    expect((await stack.until(jobId, 'succeeded')).counts.completed).toBe(1);
    const last = stack.requests('lead').at(-1);
    expect(last === undefined ? [] : lastTexts(last)).toEqual([expect.stringContaining('"allSettled":true')]);
  });

  it('without any task is told once, then the job has failed', async () => {
    await using stack = await openLeadStack({ lead: say });
    const jobId = await stack.submit({ goal: 'Do it' });
    expect(await stack.until(jobId, 'failed')).toMatchObject({ statusReason: 'lead: model' });
    expect(stack.requests('lead')).toHaveLength(2);
  });
});

describe('a lead that waits though nothing can come', () => {
  const stalls =
    (then: AgentScript): AgentScript =>
    (request, turn) => {
      if (turn === 0) return add({ key: 'a', title: 'One' }, { key: 'b', title: 'Two', dependsOn: ['a'] });
      return timesIn(request, 'go on') > 0 || turn > 6 ? then(request, turn) : wait();
    };

  it('is told once, then the job pauses; a message brings it back', async () => {
    await using stack = await openLeadStack({
      lead: stalls((request) => {
        const lost = /"task":"(t_\w{8})","status":"unreachable"/.exec(allText(request))?.[1];
        return finish([{ taskId: lost, reason: 'lost' }]);
      }),
      subAgent: fail,
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    const job = await stack.until(jobId, 'paused');
    expect(job).toMatchObject({ pauses: ['stall'], statusReason: expect.stringMatching(/^stall: /) });
    const nudges = stack
      .requests('lead')
      .flatMap(lastResults)
      .filter(({ isError }) => isError);
    expect(nudges.map((result) => JSON.parse(result.text).code)).toEqual(['invalid_transition']);
    expect(await stack.boards.examine(jobId)).toMatchObject({ findings: [] });
    await stack.local.client.jobs.message(jobId, { text: 'go on' });
    expect((await stack.until(jobId, 'partial')).pauses).toEqual([]);
    expect(await stack.events(jobId, 'job.resumed')).toHaveLength(1);
  });

  it.each(['retry', 'add'] as const)('is brought back by %s', async (how) => {
    let runs = 0;
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0) return add({ key: 'a', title: 'One' });
        return isSettled(request) && runs > 1 ? finish() : wait();
      },
      subAgent: (request, turn) => (++runs === 1 ? fail(request, turn) : submit(request, turn)),
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await stack.until(jobId, 'paused');
    const { client } = stack.local;
    const [task] = (await client.tasks.list(jobId)).tasks;
    if (task === undefined) throw new Error('no task');
    if (how === 'retry') await client.tasks.retry(jobId, task.id, { version: task.version });
    else await client.tasks.add(jobId, [{ title: 'Another' }]);
    await stack.until(jobId, how === 'retry' ? 'succeeded' : 'partial');
  });
});

describe('ask_user', () => {
  it('pauses nothing and shows in the status; waiting for the answer is no stall', async () => {
    const held = gate(finish());
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0) return add({ title: 'One' });
        if (turn === 1) return reply([toolUse('ask_user', { question: 'Which of the two folders?' })]);
        return timesIn(request, 'the second') > 0 ? held : wait();
      },
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    const { client } = stack.local;
    const reason = async () => (await client.jobs.get(jobId)).statusReason;
    await expect.poll(reason).toBe('people: the lead asks: Which of the two folders?');
    await expect.poll(async () => (await client.jobs.get(jobId)).counts.completed).toBe(1);
    const lead = (await stack.boards.job(jobId)).lead ?? '';
    await expect
      .poll(async () => (await client.tasks.get(jobId, lead)).readiness)
      .toEqual({ state: 'waiting', on: ['news'] });
    expect((await client.jobs.get(jobId)).status).toBe('running');
    expect(await stack.events(jobId, 'task.noted')).toMatchObject([
      { taskId: lead, data: { text: 'Which of the two folders?', question: true } },
    ]);
    await client.jobs.message(jobId, { text: 'the second' });
    await held.reached;
    expect(await reason()).toBeUndefined();
    held.open();
    await stack.until(jobId, 'succeeded');
    // A receipt names its message; how far the lead was told the board's news is a cursor alone.
    const delivered = (await stack.events(jobId, 'message.delivered')).map(({ data }) =>
      Object.keys(data ?? {}),
    );
    expect(delivered.filter((keys) => keys.includes('messageId'))).toEqual([['messageId', 'turn']]);
    const others = delivered.filter((keys) => !keys.includes('messageId'));
    expect(others.length).toBeGreaterThan(0);
    expect(others.every((keys) => keys.join() === 'cursor')).toBe(true);
  });
});

describe('a job that waits for people', () => {
  it('says so once its lead was told and waits', async () => {
    const held = gate(wait());
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0) return add({ title: 'One' });
        if (timesIn(request, 'which file') > 0) return timesIn(request, 'done') > 0 ? finish() : held;
        return wait();
      },
      subAgent: (request) =>
        reply([
          toolUse('board_block', { taskId: ownTask(request), kind: 'needs_input', reason: 'which file' }),
        ]),
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await held.reached;
    const reason = async () => (await stack.local.client.jobs.get(jobId)).statusReason;
    expect(await reason()).toBeUndefined();
    held.open();
    await expect.poll(reason).toBe('people: 1 blocked');
    await stack.local.client.jobs.cancel(jobId);
  });
});

describe('a lead at its bounds', () => {
  it('has one last wake when all is settled, and is told then of all that it missed', async () => {
    await using stack = await openLeadStack({
      lead: (request, turn) => {
        if (turn === 0)
          return add(...['a', 'b', 'c', 'd'].map((key) => ({ key, title: key, maxAttempts: 1 })));
        return isSettled(request) ? finish() : wait();
      },
      subAgent: fail,
    });
    const jobId = await stack.submit({ goal: 'Do it', limits: { maxLeadRuns: 1, maxParallel: 1 } });
    await stack.until(jobId, 'partial');
    const answers = stack.requests('lead').flatMap(lastResults);
    const failures = answers.flatMap((result) => [...result.text.matchAll(/task\.failed/g)]);
    expect(failures).toHaveLength(4);
    // Its first run, one wake by news, the last one.
    expect(
      await stack.events(jobId, 'task.claimed').then((all) => all.filter(({ by }) => by.kind === 'lead')),
    ).toHaveLength(3);
  });

  it('that fails leaves the board to run on, and the job says why it is only partial', async () => {
    const held = gate(reply([text('no')], { stopReason: 'refusal' }));
    await using stack = await openLeadStack({
      lead: (_, turn) =>
        turn === 0 ? add({ key: 'a', title: 'One' }, { title: 'Two', dependsOn: ['a'] }) : held,
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it' });
    await held.reached;
    held.open();
    const job = await stack.until(jobId, 'partial');
    expect(job).toMatchObject({ statusReason: 'lead: refused', counts: { completed: 2 } });
  });
});
