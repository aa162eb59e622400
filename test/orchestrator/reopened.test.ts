import { describe, expect, it } from 'vitest';
import { ownTask } from '../regression/support.ts';
import { lastResults, type MessagesRequest, reply, toolUse } from '../support/scripted-messages-api.ts';
import { type AgentScript, openLeadStack } from './support.ts';

const isSettled = (request: MessagesRequest) =>
  lastResults(request).some((result) => result.text.includes('"allSettled":true'));
const lead: AgentScript = (request, turn) => {
  if (turn === 0) return reply([toolUse('board_plan', { ops: [{ op: 'add', key: 'a', title: 'One' }] })]);
  return reply([isSettled(request) ? toolUse('finish_job', { summary: 'done' }) : toolUse('board_wait')]);
};
const subAgent: AgentScript = (request) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);

/** A job whose lead has ended it. */
async function openEnded() {
  const stack = await openLeadStack({ lead, subAgent });
  const jobId = await stack.submit({ goal: 'Do it' });
  await stack.until(jobId, 'succeeded');
  const { lead: leadId = '' } = await stack.boards.job(jobId);
  const [task] = (await stack.local.client.tasks.list(jobId)).tasks;
  return { stack, jobId, leadId, taskId: task?.id ?? '' };
}

/** Retries a task and follows the job to its second end. */
async function retryAndEnd({ stack, jobId }: Awaited<ReturnType<typeof openEnded>>, taskId: string) {
  const { version } = await stack.local.client.tasks.get(jobId, taskId);
  await stack.local.client.tasks.retry(jobId, taskId, { version, reason: 'once more' });
  for await (const { type } of stack.local.client.jobs.events(jobId, { after: 'now' })) {
    if (type === 'job.succeeded') break;
  }
  return stack.local.client.jobs.get(jobId);
}

describe('a job that its lead has ended and that is opened again', () => {
  it('ends anew once the retried task is done: the news answers the lead’s finish_job', async () => {
    const ended = await openEnded();
    await using stack = ended.stack;
    const job = await retryAndEnd(ended, ended.taskId);
    expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
    const last = stack.requests('lead').at(-1);
    expect(last === undefined ? [] : lastResults(last)).toEqual([
      expect.objectContaining({ text: expect.stringContaining('"allSettled":true'), isError: false }),
    ]);
    expect(await stack.events(ended.jobId, 'task.expired')).toEqual([]);
  });

  it('ends anew when the lead itself is retried, which is one change of it', async () => {
    const ended = await openEnded();
    await using stack = ended.stack;
    expect((await retryAndEnd(ended, ended.leadId)).status).toBe('succeeded');
    expect(await stack.events(ended.jobId, 'task.reopened')).toHaveLength(1);
  });
});
