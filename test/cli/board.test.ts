import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { aJob, aTask, JOB_ID } from '../api/records.ts';
import { API_KEY, openLocalStack } from '../support/local-stack.ts';
import { recordedTerminal } from './support/terminal.ts';

async function board(app: OpenApp, ...args: string[]) {
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY };
  const code = await runCli(['board', JOB_ID, ...args], terminal, variables);
  return { code, out: terminal.out(), messages: terminal.messages };
}

test('shows the board of a job with titles made safe', async () => {
  await using app = await openApp();
  app.fake.job = aJob({ title: 'Docs\u001b[2J' });
  app.fake.tasks = [aTask({ title: 'Read\nREADME \u202e' })];
  const { code, out, messages } = await board(app);
  expect(code).toBe(0);
  expect(messages).toEqual([]);
  expect(out).toBe(
    `Docs\\u001b[2J\n${JOB_ID} running, 1 task: 1 pending (1 ready)\n[ ] #1 Read README \\u202e  ready\n`,
  );
});

test('shows it as Markdown and, with either flag, as JSON', async () => {
  await using app = await openApp();
  const markdown = await board(app, '--format', 'md');
  expect(markdown.out).toMatch(
    /^# Summarise the docs\n\njob\\_[^\n]+\n\n- \[ \] #1 Summarise README.md \(ready\)\n$/,
  );
  const json = await board(app, '--json');
  expect((await board(app, '--format', 'json')).out).toBe(json.out);
  expect(JSON.parse(json.out)).toMatchObject({
    jobId: JOB_ID,
    status: 'running',
    counts: { total: 1 },
    tasks: [{ number: 1, title: 'Summarise README.md', readiness: { state: 'ready' } }],
    more: 0,
  });
});

test('shows what a running task says of its progress, in JSON as the field', async () => {
  await using app = await openApp();
  const progress = 'Todos (0/1 completed)';
  app.fake.tasks = [aTask({ status: 'in_progress', readiness: undefined, progress })];
  for (const format of ['plain', 'ansi', 'md'])
    expect((await board(app, '--format', format)).out).toContain(progress);
  expect(JSON.parse((await board(app, '--json')).out)).toMatchObject({ tasks: [{ progress }] });
});

test.each([
  { args: ['--limit', '0'], says: 'must be a number from 1 to 10000' },
  { args: ['--format', 'html'], says: 'must be one of plain, ansi, md, json' },
  { args: ['--by', 'owner'], says: 'must be one of parent, status' },
])('refuses $args', async ({ args, says }) => {
  await using app = await openApp();
  const { code, messages } = await board(app, ...args);
  expect(code).toBe(2);
  expect(messages.join()).toContain(says);
});

test('by status shows what people must act on first, wherever it stands in the plan', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { client, url } = stack;
  const title = 'A title that is longer than a terminal has columns, and that no pipe cuts '.repeat(2);
  const tasks = Array.from({ length: 6 }, (_, i) => ({ key: `k${i}`, title: `${title}${i}` }));
  const { id } = await client.jobs.submit({
    tasks: tasks.map((task) => ({ ...task, executor: 'external' as const })),
  });
  const last = (await client.tasks.list(id, { key: 'k5' })).tasks[0]?.id ?? '';
  const taken = await client.tasks.claim(id, { owner: 'ann', taskId: last });
  if (taken.task === null) throw new Error('nothing was ready');
  const { claimToken } = taken;
  await client.tasks.block(id, last, {
    claimToken,
    kind: 'needs_input',
    reason: 'which?',
    question: 'which?',
  });
  const shown = async (...args: string[]) => {
    const terminal = recordedTerminal();
    await runCli(['board', id, ...args], terminal, {
      CREWBOARD_URL: `${url}/v1`,
      CREWBOARD_API_KEY: API_KEY,
    });
    return terminal.out().split('\n').slice(2, -1);
  };
  const two = await shown('--by', 'status', '--limit', '2');
  expect(two.map((line) => line.slice(0, 6))).toEqual(['[!] #6', '[ ] #1', '… and ']);
  expect(two[0]).toContain(`${title}5`);
  expect(two[2]).toBe('… and 4 more');
  expect(await shown('--by', 'status')).toHaveLength(6);
});
