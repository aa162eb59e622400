import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { freePort } from '../support/redis-server.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

async function run(args: string[], variables: Record<string, string> = {}) {
  const terminal = recordedTerminal();
  const code = await runCli(args, terminal, variables);
  return { code, out: terminal.out(), messages: terminal.messages };
}

test.each([
  { args: ['frobnicate'], says: "unknown command 'frobnicate'" },
  { args: ['up', '--prot', '1'], says: 'did you mean --port?' },
  { args: ['up', '--port', '70000'], says: 'must be a port number from 0 to 65535' },
  { args: ['up', '--example', '--json'], says: "'--example' cannot be used with option '--json'" },
  { args: ['ls', 'extra'], says: 'too many arguments' },
  { args: ['run'], says: "missing required argument 'file'" },
  { args: ['run', 'no-such.json'], says: 'no-such.json is not there' },
  { args: ['results', 'job_1'], says: 'must be a job ID' },
  { args: ['cancel', 'job_4kx9m2ab7ycd', '--because', 'x'], says: "unknown option '--because'" },
  { args: ['ls', '--url', 'ftp://x'], says: 'must be an http or https URL' },
])('refuses $args with exit code 2 and one line', async ({ args, says }) => {
  const { code, out, messages } = await run(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(messages).toHaveLength(1);
  expect(messages[0]).toContain(says);
  expect(messages[0]).not.toContain('\n');
});

test('names a wrong environment variable with exit code 2', async () => {
  const { code, messages } = await run(['ls'], { CREWBOARD_PORT: 'many' });
  expect(code).toBe(2);
  expect(messages).toEqual(['crewboard: CREWBOARD_PORT must be a whole number from 0 to 65535, got "many"']);
});

test.each([
  {
    args: ['results', 'foo'],
    says: 'job must be a job ID such as job_4kx9m2ab7ycd (`crewboard ls` lists them), got "foo"',
  },
  { args: ['up', '--port', "it's"], says: '--port must be a port number from 0 to 65535, got "it\'s"' },
])('says of a refused value what it must be: $args', async ({ args, says }) => {
  const { messages } = await run(args);
  expect(messages).toEqual([`crewboard: ${says} (--help shows examples)`]);
});

test('shows help on stdout, examples before anything else', async () => {
  for (const args of [['--help'], ['run', '--help'], ['up', '--help']]) {
    const { code, out, messages } = await run(args);
    expect(code).toBe(0);
    expect(out).toMatch(/^Examples:\n {2}crewboard /);
    expect(messages).toEqual([]);
  }
});

test('hides the commands that only `up` runs', async () => {
  const { out } = await run(['--help']);
  expect(out).toContain('worker');
  expect(out).not.toContain('embedded-redis');
  expect(out).not.toContain('simulated-model');
});

test('says how to start a server that is not there', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, messages } = await run(['ls', '--url', url, '--key', 'some-key-of-mine']);
  expect(code).toBe(1);
  expect(messages).toEqual([
    `crewboard: there is no Crewboard server at ${url}: start it with \`crewboard up\`, or name another with --url`,
  ]);
});

test("keeps the data folder's key from other hosts", async () => {
  await using folder = await openTestFolder();
  await writeFile(join(folder.path, 'api-key'), 'key-of-this-machine\n');
  const { code, messages } = await run(['ls', '--url', 'http://crewboard.invalid'], {
    CREWBOARD_DATA_DIR: folder.path,
  });
  expect(code).toBe(2);
  expect(messages[0]).toContain('there is no API key for http://crewboard.invalid: pass --key');
});

test.each([
  { text: '{"goal": ', says: 'is not JSON' },
  { text: '{"gaol": "x"}', says: 'gaol is not a field here' },
  { text: '{"title": "only a title"}', says: 'needs at least one of goal, tasks and map' },
])('refuses the job file $text with exit code 2', async ({ text, says }) => {
  await using folder = await openTestFolder();
  const file = join(folder.path, 'job.json');
  await writeFile(file, text);
  const { code, messages } = await run(['submit', file, '--url', 'http://127.0.0.1:9', '--key', 'k']);
  expect(code).toBe(2);
  expect(messages).toHaveLength(1);
  expect(messages[0]).toContain(says);
});
