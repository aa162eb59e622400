import { CrewboardError } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { fakeService } from '../api/fake-service.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { aJob, anEvent, JOB_ID, TASK_ID } from '../api/records.ts';
import { API_KEY, openLocalStack } from '../support/local-stack.ts';
import { recordedTerminal } from './support/terminal.ts';

function startCli(app: OpenApp, args: string[]) {
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY };
  return { terminal, code: runCli(args, terminal, variables) };
}

const PLAN = {
  version: 2,
  text: 'Two\u001b[2J tasks',
  tasks: [
    { key: 'a', title: 'First' },
    { title: 'Second', dependsOn: ['a'] },
  ],
};

test('steers the lead, or the agent of a task', async () => {
  await using app = await openApp();
  const lead = startCli(app, ['steer', JOB_ID, 'Go on']);
  expect(await lead.code).toBe(0);
  expect(lead.terminal.messages[0]).toContain('msg_abcdefgh2345 accepted: the lead is told');
  const task = startCli(app, ['steer', JOB_ID, 'Go on', '--task', TASK_ID, '--json']);
  expect(await task.code).toBe(0);
  expect(JSON.parse(task.terminal.out())).toEqual({ messageId: 'msg_abcdefgh2345' });
  expect(app.fake.calls.map(({ args }) => args[1])).toEqual([
    { text: 'Go on' },
    { text: 'Go on', target: TASK_ID },
  ]);
});

test('shows a plan safely, approves it, rejects it with a word', async () => {
  await using app = await openApp();
  app.fake.job = aJob({ status: 'awaiting_approval', plan: PLAN });
  const shown = startCli(app, ['approve', JOB_ID, '--show']);
  expect(await shown.code).toBe(0);
  expect(shown.terminal.out()).toContain('Plan 2: 2 tasks to add');
  expect(shown.terminal.out()).toContain('- First [a]\n- Second after a\n');
  expect(shown.terminal.out()).toContain('With it start those on the board, 1 in all:\n- #1 ');
  expect(shown.terminal.out()).not.toContain('\u001b');
  expect(app.fake.calls.splice(0).map(({ method }) => method)).toEqual(['listTasks']);
  expect(await startCli(app, ['approve', JOB_ID]).code).toBe(0);
  const rejected = startCli(app, ['approve', JOB_ID, '--reject', '--text', 'fewer']);
  expect(await rejected.code).toBe(0);
  expect(rejected.terminal.messages[0]).toContain('plan 2 rejected');
  expect(app.fake.calls.map(({ method, args }) => [method, args[1]])).toEqual([
    ['approvePlan', { version: 2 }],
    ['rejectPlan', { version: 2, text: 'fewer' }],
  ]);
});

test.each([
  [['approve', JOB_ID, '--text', 'x'], '--text goes with --reject'],
  [['approve', JOB_ID, '--show', '--reject'], 'cannot be used with'],
  [['steer', JOB_ID, 'x', '--task', 'nobody'], 'must be a task ID'],
  [['steer', JOB_ID, ''], 'text must not be blank'],
  [['steer', JOB_ID, 'x'.repeat(8193)], 'text must be at most 8192 bytes of UTF-8'],
  [['cancel', JOB_ID, '--reason', 'x'.repeat(2049)], '--reason must be at most 2048 bytes of UTF-8'],
  [['approve', JOB_ID, '--reject', '--text', 'x'.repeat(4097)], '--text must be at most 4096 bytes'],
])('refuses %j', async (args, words) => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, args);
  expect(await code).toBe(2);
  expect(terminal.messages.join('\n')).toContain(words);
  expect(app.fake.calls).toEqual([]);
});

test('ends with 1 where there is no plan to decide on', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['approve', JOB_ID]);
  expect(await code).toBe(1);
  expect(terminal.messages).toEqual([`crewboard: no plan of ${JOB_ID} waits for approval (running)`]);
});

test('ends with 1 when nobody is left to be told', async () => {
  const fake = fakeService();
  const sendMessage = () => Promise.reject(new CrewboardError('terminal', 'the job is succeeded.'));
  await using app = await openApp({ service: { ...fake.service, sendMessage } });
  const { terminal, code } = startCli(app, ['steer', JOB_ID, 'x']);
  expect(await code).toBe(1);
  expect(terminal.messages).toEqual([
    `crewboard: nobody reads a message in ${JOB_ID} any more: the job is succeeded`,
  ]);
});

test('names the flag for a job without a lead', async () => {
  await using stack = await openLocalStack({ worker: false });
  const terminal = recordedTerminal();
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
  const variables = { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: API_KEY };
  expect(await runCli(['steer', id, 'x'], terminal, variables)).toBe(2);
  expect(terminal.messages.join()).toContain(`${id} has no lead: name the agent of a task with --task`);
});

test.each([
  { status: 'cancelled', code: 0, says: `${JOB_ID} was cancelled already: cancelled` },
  { status: 'succeeded', code: 1, says: `${JOB_ID} had ended already, so nothing is cancelled: succeeded` },
  { status: 'failed', code: 1, says: `${JOB_ID} had ended already, so nothing is cancelled: failed` },
] as const)('cancel of a job that is $status ends with $code and asks for nothing', async (end) => {
  await using app = await openApp();
  app.fake.job = aJob({ status: end.status });
  const { terminal, code } = startCli(app, ['cancel', JOB_ID]);
  expect(await code).toBe(end.code);
  expect(terminal.messages.join()).toContain(end.says);
  const json = startCli(app, ['cancel', JOB_ID, '--json']);
  expect(await json.code).toBe(end.code);
  expect(JSON.parse(json.terminal.out())).toMatchObject({ id: JOB_ID, status: end.status });
  expect(app.fake.calls).toEqual([]);
});

test('a run tells of a plan that waits and of the lead’s questions, with the command that answers', async () => {
  await using app = await openApp();
  const { terminal, code } = startCli(app, ['run', 'examples/docs-review.json']);
  await app.fake.followersAre(1);
  app.fake.append(anEvent(1, { type: 'plan.proposed', data: { version: 1, tasks: 3 } }));
  app.fake.append(
    anEvent(2, { type: 'task.noted', taskId: TASK_ID, data: { text: 'Which?', question: true } }),
  );
  app.fake.append(anEvent(3, { type: 'job.succeeded' }));
  expect(await code).toBe(0);
  const told = terminal.messages.join('\n');
  expect(told).toContain(`plan 1 waits for approval: crewboard approve ${JOB_ID} --show`);
  expect(told).toContain(`the lead asks: Which? (answer with: crewboard steer ${JOB_ID} TEXT)`);
});
