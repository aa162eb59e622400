import { describe, expect, it } from 'vitest';
import { ownTask } from '../regression/support.ts';
import { openLocalStack } from '../support/local-stack.ts';
import {
  allText,
  lastResults,
  type MessagesRequest,
  reply,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { type AgentScript, type LeadStack, openLeadStack, timesIn } from './support.ts';

const PLAN = { approve: true };
const submit: AgentScript = (request) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
const submitPlan = (tasks: object[], words = 'my plan') =>
  reply([toolUse('submit_plan', { tasks, text: words })]);
const answers = (request: MessagesRequest) => lastResults(request).map((result) => result.text);

/** The lead proposes, and once approved waits for its tasks and finishes. */
const planner =
  (propose: AgentScript): AgentScript =>
  (request, turn) => {
    if (!allText(request).includes('"decision":"approved"')) return propose(request, turn);
    const isSettled = answers(request).some((answer) => answer.includes('"allSettled":true'));
    return isSettled ? reply([toolUse('finish_job', { summary: 'done' })]) : reply([toolUse('board_wait')]);
  };

async function plannedBy(stack: LeadStack, jobId: string) {
  const job = await stack.until(jobId, 'awaiting_approval');
  return { job, plan: job.plan };
}

describe('until a person has approved the plan', () => {
  it('board_plan, todo_write, ask_user, board_wait and finish_job are refused with plan_mode, and stay listed', async () => {
    const calls = [
      toolUse('board_plan', { ops: [{ op: 'add', title: 'One' }] }),
      toolUse('todo_write', { todos: [] }),
      toolUse('ask_user', { question: 'Which?' }),
      toolUse('board_list'),
      toolUse('board_wait'),
    ];
    await using stack = await openLeadStack({
      lead: planner((_, turn) => {
        if (turn === 0) return reply(calls);
        return turn === 1
          ? reply([toolUse('finish_job', { summary: 'no' })])
          : submitPlan([{ key: 'a', title: 'One' }]);
      }),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it', plan: PLAN });
    const { job } = await plannedBy(stack, jobId);
    const [, second, third] = stack.requests('lead');
    if (second === undefined || third === undefined) throw new Error('too few requests');
    expect(lastResults(second).map(({ isError, text }) => isError && JSON.parse(text).code)).toEqual([
      'plan_mode',
      'plan_mode',
      'plan_mode',
      false,
      'plan_mode',
    ]);
    expect(JSON.parse(answers(third)[0] ?? '').code).toBe('plan_mode');
    expect(job.counts.total).toBe(0);
    await stack.local.client.jobs.approvePlan(jobId);
    await stack.until(jobId, 'succeeded');
    const listed = stack.requests('lead').map(({ tools }) => tools?.map(({ name }) => name).join());
    expect(new Set(listed).size).toBe(1);
    expect(listed[0]).toContain('todo_write');
  });

  it('a plan that could not be added comes back to the model with the error', async () => {
    const cycle = [
      { key: 'a', title: 'A', dependsOn: ['b'] },
      { key: 'b', title: 'B', dependsOn: ['a'] },
    ];
    await using stack = await openLeadStack({
      lead: planner((_, turn) => {
        if (turn === 0) return submitPlan(cycle);
        if (turn === 1) return submitPlan([{ title: 'A', dependsOn: ['nobody'] }]);
        return turn === 2 ? submitPlan([]) : submitPlan([{ title: 'A' }]);
      }),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it', plan: PLAN });
    await plannedBy(stack, jobId);
    const codes = stack
      .requests('lead')
      .slice(1)
      .map((request) => JSON.parse(answers(request)[0] ?? '').code);
    expect(codes).toEqual(['dependency_cycle', 'unknown_dependency', 'invalid_argument']);
    expect(await stack.events(jobId, 'plan.proposed')).toHaveLength(1);
  });
});

describe('a plan that waits', () => {
  it('is read in the job, starts nothing, and its approval makes its tasks, once', async () => {
    await using stack = await openLeadStack({
      lead: planner(() =>
        submitPlan([
          { key: 'a', title: 'First' },
          { key: 'b', title: 'Second', dependsOn: ['a'] },
        ]),
      ),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it', plan: PLAN });
    const { job, plan } = await plannedBy(stack, jobId);
    expect(job).toMatchObject({ counts: { total: 0 }, statusReason: 'people: the plan waits for approval' });
    expect(plan).toMatchObject({ version: 1, text: 'my plan', tasks: [{ key: 'a' }, { key: 'b' }] });
    const { client } = stack.local;
    expect((await client.jobs.list()).jobs[0]?.plan).toBeUndefined();
    const lead = (await stack.boards.job(jobId)).lead ?? '';
    const waiting = await client.tasks.get(jobId, lead);
    expect(waiting.readiness).toEqual({ state: 'held', cause: 'approval' });
    const approve = () => client.jobs.approvePlan(jobId, { version: 1 }, { idempotencyKey: 'yes' });
    await Promise.all([approve(), approve()]);
    const done = await stack.until(jobId, 'succeeded');
    expect(done.counts).toMatchObject({ total: 2, completed: 2 });
    expect(done.plan).toBeUndefined();
    await expect(client.jobs.approvePlan(jobId, { version: 1 })).rejects.toMatchObject({ code: 'terminal' });
    expect(await stack.events(jobId, 'plan.approved')).toMatchObject([
      { by: { kind: 'user', id: 'admin' }, data: { version: 1 } },
    ]);
    const told = stack.requests('lead')[1];
    const { tasks } = await client.tasks.list(jobId);
    expect(JSON.parse(answers(told ?? { model: '', max_tokens: 0, messages: [] })[0] ?? '')).toEqual({
      version: 1,
      decision: 'approved',
      created: { a: tasks[0]?.id, b: tasks[1]?.id },
    });
    expect(await stack.boards.examine(jobId)).toMatchObject({ findings: [] });
  });

  it('is rejected with a word that reaches the lead, and a stale approval of the old one is refused', async () => {
    await using stack = await openLeadStack({
      lead: planner((request) =>
        submitPlan([{ title: timesIn(request, 'one task a folder') > 0 ? 'Folders' : 'Files' }]),
      ),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it', plan: PLAN });
    await plannedBy(stack, jobId);
    const { client } = stack.local;
    await client.jobs.rejectPlan(jobId, { version: 1, text: 'one task a folder' });
    await expect
      .poll(async () => (await client.jobs.get(jobId)).plan, { timeout: 10_000 })
      .toMatchObject({ version: 2, tasks: [{ title: 'Folders' }] });
    await expect(client.jobs.approvePlan(jobId, { version: 1 })).rejects.toMatchObject({
      code: 'stale_version',
      extras: { current: { version: 2 }, next: `GET /v1/jobs/${jobId}` },
    });
    await expect(client.jobs.rejectPlan(jobId, { version: 3 })).rejects.toMatchObject({
      code: 'stale_version',
    });
    expect((await client.jobs.get(jobId)).counts.total).toBe(0);
    await client.jobs.approvePlan(jobId, { version: 2 });
    expect((await stack.until(jobId, 'succeeded')).counts.total).toBe(1);
    expect(await stack.events(jobId, 'plan.rejected')).toMatchObject([
      { data: { version: 1, text: 'one task a folder', job: 'planning' } },
    ]);
  });

  it('of a job with given tasks holds them all, also from holders outside, until it is approved', async () => {
    await using stack = await openLeadStack({ subAgent: submit });
    const jobId = await stack.submit({
      tasks: [{ title: 'For an agent' }, { title: 'For outside', executor: 'external' }],
      plan: PLAN,
    });
    const { job, plan } = await plannedBy(stack, jobId);
    expect(plan).toEqual({ version: 1, tasks: [] });
    expect(job.counts).toMatchObject({ pending: 2, held: 2, ready: 0 });
    const { client } = stack.local;
    const { tasks } = await client.tasks.list(jobId, { readiness: 'held' });
    expect(tasks.map(({ readiness }) => readiness)).toEqual([
      { state: 'held', cause: 'approval' },
      { state: 'held', cause: 'approval' },
    ]);
    expect(await client.tasks.claim(jobId, { owner: 'laptop' })).toMatchObject({ task: null });
    await expect(client.tasks.claim(jobId, { owner: 'laptop', taskId: tasks[1]?.id })).rejects.toMatchObject({
      code: 'not_ready',
      extras: { current: { readiness: { state: 'held', cause: 'approval' } } },
    });
    expect((await client.tasks.why(jobId, tasks[0]?.id ?? '')).text).toContain('the plan waits for approval');
    await client.jobs.approvePlan(jobId);
    const claim = await client.tasks.claim(jobId, { owner: 'laptop' });
    if (claim.task === null) throw new Error('nothing was claimed');
    const { task, claimToken } = claim;
    await client.tasks.submit(jobId, task.id, { claimToken, version: task.version, summary: 'done' });
    await stack.until(jobId, 'succeeded');
  });

  it('of given tasks that is rejected cancels the job, which has nobody to plan again', async () => {
    await using stack = await openLeadStack({});
    const jobId = await stack.submit({ tasks: [{ title: 'One' }], plan: PLAN });
    await plannedBy(stack, jobId);
    await stack.local.client.jobs.rejectPlan(jobId, { text: 'not now' });
    const job = await stack.until(jobId, 'cancelled');
    expect(job).toMatchObject({ statusReason: 'the plan was rejected: not now', counts: { cancelled: 1 } });
    expect(await stack.boards.examine(jobId)).toMatchObject({ findings: [] });
  });

  it('is left to people when the lead fails before it was made, if there are tasks', async () => {
    await using stack = await openLeadStack({
      lead: () => reply([], { stopReason: 'refusal' }),
      subAgent: submit,
    });
    const jobId = await stack.submit({ goal: 'Do it', tasks: [{ title: 'Given' }], plan: PLAN });
    const { job } = await plannedBy(stack, jobId);
    const said =
      /the plan waits for approval; the lead failed before it made one \(refused\): the model refused to go on\. Approve to run/;
    expect(job.statusReason).toMatch(/^people: /);
    expect(job.statusReason).toMatch(said);
    const { jobs, tasks } = stack.local.client;
    expect((await jobs.list()).jobs[0]?.statusReason).toBe(job.statusReason);
    const [given] = (await tasks.list(jobId)).tasks;
    expect((await tasks.why(jobId, given?.id ?? '')).text).toMatch(said);
    await jobs.approvePlan(jobId);
    expect(await stack.until(jobId, 'partial')).toMatchObject({ statusReason: 'lead: refused' });
  });
});

describe('the simulated model', () => {
  it.each([
    ['plans', {}, 0],
    ['follows given tasks', { tasks: [{ title: 'Given' }] }, 1],
  ])('%s when the plan needs approval', async (_, body, given) => {
    await using stack = await openLocalStack();
    const { client } = stack;
    const goal = 'Review every page (**/*.md).';
    const workspace = { path: `${process.cwd()}/examples/docs` };
    const { id } = await client.jobs.submit({ goal, workspace, plan: PLAN, ...body });
    await expect
      .poll(async () => (await client.jobs.get(id)).status, { timeout: 20_000 })
      .toBe('awaiting_approval');
    expect((await client.jobs.get(id)).counts.total).toBe(given);
    await client.jobs.approvePlan(id);
    await expect.poll(async () => (await client.jobs.get(id)).endedAt, { timeout: 40_000 }).toBeDefined();
    const job = await client.jobs.get(id);
    expect(job.status).toBe('succeeded');
    expect(job.counts.total).toBeGreaterThan(0);
  });
});
