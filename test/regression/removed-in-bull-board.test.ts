import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import {
  gate,
  type MessagesRequest,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, type ScriptedStack, titleOf } from './support.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const TASKS = 50;
const FAIL = ['Row 7', 'Row 20', 'Row 41'];
const CONCURRENCY = 4;
const VARIABLES = { CREWBOARD_CONCURRENCY: String(CONCURRENCY), CREWBOARD_LEASE_MS: '800' };
const JOB = {
  tasks: Array.from({ length: TASKS }, (_, i) => ({ title: `Row ${i + 1}` })),
  limits: { maxParallel: TASKS },
};

function answer(request: MessagesRequest) {
  const taskId = ownTask(request);
  if (!FAIL.includes(titleOf(request))) return reply([toolUse('board_submit', { taskId, summary: 'Done.' })]);
  return reply([toolUse('board_fail', { taskId, reason: 'no such row', retryable: false })]);
}

/** A model whose first replies, one a place of the worker, are held until `open`: all other tasks wait in the queue. */
async function startHeldModel() {
  const gates = Array.from({ length: CONCURRENCY }, () => gate(reply([])));
  const model = await startScriptedApi((request, call) => {
    const held = gates[call - 1];
    if (held === undefined) return answer(request);
    held.reply = answer(request);
    return held;
  });
  const open = () => {
    for (const held of gates) held.open();
  };
  return { model, open, [Symbol.asyncDispose]: () => model.stop() };
}

/** What a person does to the queue of tasks in Bull Board. */
async function act({ local }: ScriptedStack, action: string): Promise<void> {
  const put = () => local.call('PUT', `/admin/queues/api/queues/crewboard.tasks${action}`, {});
  // A queue job ends a moment after its task, and a queue with active ones is not obliterated.
  await poll(async () => (await put()).status).toBeLessThan(300);
}

/** The queue jobs that wait. */
async function waitingIn({ local }: ScriptedStack): Promise<string[]> {
  const queue = new Queue('crewboard.tasks', { connection: local.store.redis, prefix: local.store.prefix });
  const jobs = await queue.getJobs(['waiting', 'prioritized']);
  await queue.close();
  return jobs.map(({ id = '' }) => id);
}

async function expectEnd(stack: ScriptedStack, jobId: string): Promise<void> {
  for await (const _ of stack.local.client.jobs.events(jobId)) {
    // Followed for its end alone.
  }
  const { job, tasks } = await stack.read(jobId);
  expect(job).toMatchObject({
    status: 'partial',
    counts: { total: TASKS, completed: TASKS - FAIL.length, failed: FAIL.length },
  });
  const failed = tasks.filter(({ status }) => status === 'failed').map(({ title }) => title);
  expect(failed).toEqual(FAIL);
  expect(tasks.map(({ attempt }) => attempt)).toEqual(tasks.map(() => 1));
}

test('a queue job that somebody deletes in Bull Board costs its task nothing', {
  timeout: 60_000,
}, async () => {
  await using held = await startHeldModel();
  await using stack = await openScriptedStack(held.model, { variables: VARIABLES });
  const { id } = await stack.local.client.jobs.submit(JOB);
  await held.model.arrived(CONCURRENCY);
  await poll(() => waitingIn(stack)).toHaveLength(TASKS - CONCURRENCY);
  const [removed = ''] = await waitingIn(stack);
  await act(stack, `/${removed}/clean`);
  expect(await waitingIn(stack)).not.toContain(removed);
  held.open();
  await expectEnd(stack, id);
});

test('a queue that somebody pauses, obliterates and resumes there is filled again', {
  timeout: 60_000,
}, async () => {
  await using held = await startHeldModel();
  await using stack = await openScriptedStack(held.model, { variables: VARIABLES });
  const { id } = await stack.local.client.jobs.submit(JOB);
  await held.model.arrived(CONCURRENCY);
  await poll(() => waitingIn(stack)).toHaveLength(TASKS - CONCURRENCY);
  await act(stack, '/pause');
  held.open();
  // What ran ends; nothing else is taken.
  const settled = async () => {
    const { counts } = await stack.local.client.jobs.get(id);
    return counts.completed + counts.failed;
  };
  await poll(settled).toBe(CONCURRENCY);
  await act(stack, '/obliterate');
  expect(await waitingIn(stack)).toEqual([]);
  await act(stack, '/resume');
  await expectEnd(stack, id);
});
