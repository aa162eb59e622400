import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { JOB_ID, TASK_ID } from '../api/records.ts';
import { openLeadStack } from '../orchestrator/support.ts';
import { API_KEY, openLocalStack } from '../support/local-stack.ts';
import { reply } from '../support/scripted-messages-api.ts';
import { recordedTerminal } from './support/terminal.ts';

async function cli(app: OpenApp, ...args: string[]) {
  const terminal = recordedTerminal();
  const code = await runCli(args, terminal, { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY });
  return { code, out: terminal.out(), said: terminal.messages.join('\n') };
}

test.each([[TASK_ID], ['1'], ['#1']])('says why the task named %s is where it is', async (name) => {
  await using app = await openApp();
  expect(await cli(app, 'why', JOB_ID, name)).toEqual({ code: 0, out: 'is ready\n', said: '' });
  const json = await cli(app, 'why', JOB_ID, name, '--json');
  expect(JSON.parse(json.out)).toMatchObject({ taskId: TASK_ID, number: 1, why: { text: 'is ready' } });
});

test('refuses a number that no task has, and a name that is none', async () => {
  await using app = await openApp();
  const unknown = await cli(app, 'why', JOB_ID, '7');
  expect(unknown.code).toBe(2);
  expect(unknown.said).toContain('has no task 7');
  expect((await cli(app, 'why', JOB_ID, 'first')).code).toBe(2);
});

test('says of what is no number of a task what it must be', async () => {
  await using app = await openApp();
  const { code, said } = await cli(app, 'why', JOB_ID, '-1');
  expect(code).toBe(2);
  expect(said).toContain(
    'task must be a task ID such as t_4kx9m2ab, or a number, 0 for the lead (`crewboard board JOB` lists them), got "-1"',
  );
});

test('takes a number for a task wherever a task is named', async () => {
  await using app = await openApp();
  expect((await cli(app, 'transcript', JOB_ID, '1')).code).toBe(0);
  expect((await cli(app, 'transcript', JOB_ID, '0')).code).toBe(0);
  expect((await cli(app, 'steer', JOB_ID, 'Go on', '--task', '1')).code).toBe(0);
  expect((await cli(app, 'steer', JOB_ID, 'Go on', '--task', '0')).code).toBe(0);
  const calls = app.fake.calls.filter(({ method }) => method !== 'listTasks');
  expect(calls.map(({ method, args }) => [method, args[1]])).toEqual([
    ['readTranscript', TASK_ID],
    ['readTranscript', 't_22222222'],
    ['sendMessage', { text: 'Go on', target: TASK_ID }],
    ['sendMessage', { text: 'Go on' }],
  ]);
});

test('takes several statuses one by one, with commas, and both', async () => {
  await using app = await openApp();
  const forms = [
    ['--status', 'failed,running'],
    ['--status', 'failed', '--status', 'running'],
    ['--status=failed, running', '--status', 'failed'],
  ];
  for (const form of forms) {
    const { code, out } = await cli(app, 'ls', ...form, '--limit', '1');
    expect([code, out.includes(JOB_ID)]).toEqual([0, true]);
  }
  expect((await cli(app, 'ls', '--status', 'failed')).out).toBe('');
  const wrong = await cli(app, 'ls', '--status', 'failed,runing');
  expect(wrong.code).toBe(2);
  expect(wrong.said).toContain('or several with commas between them, got "failed,runing"');
});

test('lists as many jobs of the statuses asked for as it is told to', async () => {
  await using app = await openApp();
  const { code, out, said } = await cli(app, 'ls', '--status', 'failed,running', '--limit', '2');
  expect(code).toBe(0);
  expect(out.split(JOB_ID)).toHaveLength(3);
  expect(said).toBe('The newest 2 jobs; --limit N or --all shows more.');
});

test('names the lead that has failed among what keeps the job', async () => {
  await using stack = await openLeadStack({ lead: () => reply([], { stopReason: 'refusal' }) });
  const jobId = await stack.submit({ goal: 'Do it' });
  await stack.until(jobId, 'failed');
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: stack.local.url, CREWBOARD_API_KEY: API_KEY };
  expect(await runCli(['why', jobId], terminal, variables)).toBe(0);
  expect(terminal.out()).not.toContain('No task stands still');
  expect(terminal.out()).toContain('refused');
});

test('says how many more stand still than it explains', async () => {
  await using stack = await openLocalStack({ worker: false });
  const tasks = Array.from({ length: 8 }, (_, i) => ({ title: `T${i}`, executor: 'external' as const }));
  const { id } = await stack.client.jobs.submit({ tasks });
  const terminal = recordedTerminal();
  await runCli(['why', id], terminal, { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: API_KEY });
  expect(terminal.out()).toContain(`And 3 more ready: \`crewboard board ${id} --by status\``);
});
