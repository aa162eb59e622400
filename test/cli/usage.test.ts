import { mkdir, writeFile } from 'node:fs/promises';
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

const JOB = 'job_4kx9m2ab7ycd';

test.each([
  { args: ['wach', '--help'], says: "unknown command 'wach': did you mean watch?" },
  { args: ['help', 'wach'], says: "unknown command 'wach': did you mean watch?" },
  { args: ['--config', 'x', 'help', 'wach'], says: "unknown command 'wach': did you mean watch?" },
  { args: ['help', 'frobnicate'], says: "unknown command 'frobnicate'" },
  { args: ['keys', 'revok', '--help'], says: "unknown command 'revok': did you mean revoke?" },
  { args: ['help', 'keys', 'revok'], says: "unknown command 'revok': did you mean revoke?" },
  { args: ['embed-redis', '--help'], says: "unknown command 'embed-redis'" },
  {
    args: ['ls', '--status', 'running', 'paused'],
    says: "too many arguments for 'ls': it takes 0, got 1; quote",
  },
  { args: ['ls', '--bogus'], says: "unknown option '--bogus'" },
  { args: ['ls', '--statu=failed'], says: "unknown option '--statu=failed': did you mean --status?" },
  { args: ['ls', '--limit'], says: '--limit needs a value: --limit <jobs>' },
  { args: ['ls', '--key', ''], says: '--key must not be empty' },
  { args: ['ls', '--key', 'canary key'], says: '--key has a character that no key has' },
  { args: ['ls', '--status', 'bad'], says: '--status must be one of accepting, planning' },
  { args: ['board', JOB, '--format', 'x'], says: '--format must be one of plain, ansi, md, json, got "x"' },
  { args: ['completion', 'csh'], says: 'shell must be one of bash, zsh, fish, got "csh"' },
  { args: ['ls', '--config', ''], says: '--config must not be empty' },
  { args: ['submit', ''], says: 'file must not be empty' },
])('refuses $args by name, and guesses only what is near', async ({ args, says }) => {
  const { code, out, messages } = await run(args);
  expect([code, out]).toEqual([2, '']);
  const [message = ''] = messages;
  expect(message).toContain(`crewboard: ${says}`);
  if (!says.includes('did you mean')) expect(message).not.toContain('did you mean');
  expect(message).not.toMatch(/canary|\.,|Allowed choices/);
});

test('explains a command alike by its flag and by `help`, at any depth', async () => {
  for (const path of [['ls'], ['keys'], ['keys', 'add']]) {
    const byFlag = await run([...path, '--help']);
    const byName = await run(['help', ...path]);
    expect(byName).toEqual(byFlag);
    expect(byName.code).toBe(0);
  }
});

test('says that Ctrl-C is a good end of `up`', async () => {
  expect((await run(['up', '--help'])).out).toContain('that is a good end: exit code 0');
});

test('keeps every help within 80 columns, its examples first', async () => {
  const { out } = await run(['--help']);
  const names = [...out.slice(out.indexOf('Commands:')).matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => [
    name,
  ]);
  expect(names.length).toBeGreaterThan(15);
  const paths = [[], ...names, ['keys', 'add'], ['keys', 'ls'], ['keys', 'revoke']];
  for (const path of paths) {
    const help = await run(['help', ...path]);
    expect(help.out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(help.out, path.join(' ')).toMatch(/^Examples:\n {2}\S/);
    expect(help.out).not.toMatch(/`crewboard$/m);
  }
});

test.each([
  { file: 'nothing.json', says: 'nothing.json is not there: check the name and the working directory' },
  { file: 'folder', says: 'folder is a folder: name a file in it' },
  { file: 'job.json/x', says: 'job.json/x is not there: ' },
])('says of the job file $file what is wrong with it in plain words', async ({ file, says }) => {
  await using folder = await openTestFolder();
  await mkdir(join(folder.path, 'folder'));
  await writeFile(join(folder.path, 'job.json'), '{}');
  for (const args of [['submit'], ['run'], ['ls', '--config']]) {
    const { code, messages } = await run([...args, join(folder.path, file)]);
    expect(code).toBe(2);
    expect(messages.join()).toContain(says);
    expect(messages.join()).not.toMatch(/E[A-Z]{4,}/);
  }
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
  { text: '{"goal": ', says: 'is not JSON: line 1, column 10: the file ends too early' },
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
