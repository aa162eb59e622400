import type { Check, JobBody, NewTask } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { folderWith, ownTask } from '../regression/support.ts';
import { lastResults, reply, toolUse } from '../support/scripted-messages-api.ts';
import { type AgentScript, type LeadStack, openLeadStack, timesIn } from './support.ts';

const OUTPUT_SCHEMA = { type: 'object', required: ['words'], properties: { words: { type: 'integer' } } };
const checkedBy = (check: Check): Partial<NewTask> => ({ acceptance: [{ id: 'c1', text: 'holds', check }] });
const submits: AgentScript = (request) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done', output: { words: 'many' } })]);

/** How the only task of a job ended whose agent is refused. */
async function endOf(stack: LeadStack, body: JobBody) {
  const jobId = await stack.submit({ ...body, limits: { maxAttempts: 1 } });
  await stack.until(jobId, 'failed');
  const { tasks } = await stack.local.client.tasks.list(jobId);
  const requests = stack.requests('sub-agents');
  return { failure: tasks[0]?.failure, calls: requests.length, last: requests.at(-1) };
}

describe('a sub-agent that sends the same refused board_submit again and again', () => {
  it.each<[string, Partial<NewTask>, string]>([
    [
      'without evidence',
      { policy: 'evidence', acceptance: [{ id: 'c1', text: 'it holds' }] },
      'evidence_required',
    ],
    ['with an output that does not fit', { outputSchema: OUTPUT_SCHEMA }, 'check_failed'],
    ['against a check that fails', checkedBy({ run: 'exit 1' }), 'check_failed'],
    [
      'against a check that says something else each time',
      checkedBy({ run: 'date +%N; exit 1' }),
      'check_failed',
    ],
  ])('%s is warned, then ended at the fourth', async (_, task, code) => {
    await using folder = await folderWith({});
    await using stack = await openLeadStack(
      { subAgent: submits },
      { CREWBOARD_COMMANDS: 'host', CREWBOARD_WORKSPACES: folder.path },
    );
    const body = { workspace: { path: folder.path }, tasks: [{ title: 'One', ...task }] };
    const { failure, calls, last } = await endOf(stack, body);
    if (last === undefined) throw new Error('the model was not called');
    expect(calls).toBe(4);
    expect(failure?.reason).toContain('goes round in circles: board_submit with the same input 4 times');
    expect(timesIn(last, 'Loop guard: board_submit failed 3 times')).toBe(1);
    expect(lastResults(last)[0]?.text).toContain(`"code":"${code}"`);
  });

  it('goes on while it mends what the check looks at', async () => {
    await using folder = await folderWith({ 'count.txt': '' });
    await using stack = await openLeadStack(
      {
        subAgent: (request, turn) =>
          turn % 2 === 0
            ? submits(request, turn)
            : reply([toolUse('run_command', { command: 'echo line >> count.txt; exit 3' })]),
      },
      { CREWBOARD_COMMANDS: 'host', CREWBOARD_WORKSPACES: folder.path },
    );
    const jobId = await stack.submit({
      workspace: { path: folder.path },
      tools: ['run_command'],
      tasks: [{ title: 'One', ...checkedBy({ run: 'wc -l < count.txt; test $(wc -l < count.txt) -ge 3' }) }],
    });
    await stack.until(jobId, 'succeeded');
    expect(stack.requests('sub-agents')).toHaveLength(7);
  });
});

describe('a lead that sends the same refused finish_job again and again', () => {
  it('against the schema of the job’s output is warned, then ended at the fourth', async () => {
    const finish = () => reply([toolUse('finish_job', { summary: 'done', output: { words: 'many' } })]);
    await using stack = await openLeadStack({ lead: finish, subAgent: submits });
    const jobId = await stack.submit({ goal: 'Count', outputSchema: OUTPUT_SCHEMA });
    const job = await stack.until(jobId, 'failed');
    expect(stack.requests('lead')).toHaveLength(4);
    expect(job.statusReason).toContain('lead: model');
  });

  it('but with other news each time goes on', async () => {
    const refused: string[] = [];
    await using stack = await openLeadStack({
      lead: async (request) => {
        refused.push(...lastResults(request).map(({ text }) => text));
        const { id } = (await stack.local.client.jobs.list()).jobs[0] ?? { id: '' };
        const claimed = await stack.local.client.tasks.claim(id, { owner: 'ann' });
        if (claimed.task !== null) {
          const { id: taskId, version } = claimed.task;
          await stack.local.client.tasks.submit(id, taskId, {
            claimToken: claimed.claimToken,
            version,
            summary: 'done',
          });
        }
        return reply([toolUse('finish_job', { summary: 'done' })]);
      },
    });
    const tasks = Array.from({ length: 6 }, (_, n) => ({
      title: `Task ${n}`,
      executor: 'external' as const,
    }));
    const jobId = await stack.submit({ goal: 'Finish', tasks });
    await stack.until(jobId, 'succeeded');
    expect(refused.length).toBeGreaterThan(4);
  });
});
