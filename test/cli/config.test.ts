import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Environment } from '@crewboard/contracts';
import { resolveCommandsMode } from '@crewboard/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readColourWish, readConfig } from '../../apps/cli/src/config.ts';
import { CONFIG_KEYS } from '../../apps/cli/src/config-file.ts';
import { dataFolder, writeState } from '../../apps/cli/src/local/data-folder.ts';
import { identify } from '../../apps/cli/src/local/process-identity.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

const SECRET = 'canary-0123456789abcdef';

async function configFile(folder: { path: string }, content: unknown): Promise<string> {
  const path = join(folder.path, 'crewboard.config.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return path;
}

test('takes flags, then variables, then the file, then defaults, and says which', async () => {
  await using folder = await openTestFolder();
  const file = await configFile(folder, { port: 8000, concurrency: 3, url: 'http://127.0.0.1:1' });
  const terminal = recordedTerminal();
  const args = ['config', '--json', '--config', file, '--url', 'http://127.0.0.1:2'];
  expect(await runCli(args, terminal, { CREWBOARD_PORT: '9000' })).toBe(0);
  const told: { settings: { key: string; value: unknown; source: string }[] } = JSON.parse(terminal.out());
  const found = Object.fromEntries(told.settings.map(({ key, value, source }) => [key, [value, source]]));
  expect(found).toMatchObject({
    url: ['http://127.0.0.1:2', 'flag'],
    port: [9000, 'environment'],
    concurrency: [3, 'file'],
    leaseMs: [30_000, 'default'],
    redisUrl: [null, 'default'],
  });
});

/** What `crewboard config --json` prints, with the settings by key. */
async function configOf(variables: Record<string, string>, ...flags: string[]) {
  const terminal = recordedTerminal();
  const code = await runCli(['config', '--json', ...flags], terminal, {
    CREWBOARD_CONFIG: '-',
    ...variables,
  });
  const told = Told.parse(JSON.parse(terminal.out()));
  const settings = Object.fromEntries(told.settings.map(({ key, value, source }) => [key, [value, source]]));
  return { code, faults: told.faults, settings };
}

const Told = z.object({
  settings: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
  faults: z.array(z.string()),
});

test('takes server and key from the data folder of an `up` that runs, and says so', async () => {
  await using folder = await openTestFolder();
  const data = dataFolder(folder.path);
  await writeState(data.serverFile, { url: 'http://127.0.0.1:7499', process: await identify() });
  await writeFile(data.keyFile, `${SECRET}\n`);
  const variables = { CREWBOARD_DATA_DIR: folder.path };
  expect((await configOf(variables)).settings).toMatchObject({
    url: ['http://127.0.0.1:7499', 'data folder'],
    apiKey: ['(set)', 'data folder'],
  });
  // The folder's key goes to no other host.
  expect((await configOf(variables, '--url', 'http://crew.example')).settings).toMatchObject({
    url: ['http://crew.example', 'flag'],
    apiKey: [null, 'default'],
  });
  await rm(data.serverFile);
  expect((await configOf({ ...variables, CREWBOARD_PORT: '9000' })).settings).toMatchObject({
    url: ['http://127.0.0.1:9000', 'environment'],
    apiKey: ['(set)', 'data folder'],
  });
});

test('shows the folder and the way of commands that count when nothing names them', async () => {
  const { settings } = await configOf({});
  expect(settings.workspaces).toEqual([process.cwd(), 'default']);
  expect(settings.commands).toEqual([await resolveCommandsMode(undefined), 'default']);
  const set = await configOf({ CREWBOARD_WORKSPACES: '/srv', CREWBOARD_COMMANDS: 'off' });
  expect(set.settings).toMatchObject({
    workspaces: ['/srv', 'environment'],
    commands: ['off', 'environment'],
  });
});

test('prints what it can of a configuration with faults, and names all of them', async () => {
  await using folder = await openTestFolder();
  const file = await configFile(folder, `{\n  "port": 8000,\n  "bogus": 1,\n  "wokerModel": "${SECRET}"\n}`);
  const { code, faults, settings } = await configOf({ CREWBOARD_LEASE_MS: 'x' }, '--config', file);
  expect(code).toBe(2);
  expect(faults).toEqual([
    `${file}: line 3: there is no key "bogus": \`crewboard config\` lists all keys`,
    `${file}: line 4: there is no key "wokerModel": did you mean "workerModel"?`,
    'CREWBOARD_LEASE_MS must be a whole number from 200 to 3600000, got "x"',
  ]);
  expect(settings).toMatchObject({ port: [8000, 'file'], leaseMs: [30_000, 'default'] });
  const broken = await configOf({}, '--config', await configFile(folder, '{\n  "port": 8000,\n}'));
  expect(broken.code).toBe(2);
  expect(broken.faults).toEqual([
    `${file}: is not JSON: line 3, column 1: there is a comma too many before it`,
  ]);
  expect(broken.settings).toMatchObject({ port: [7420, 'default'] });
});

test.each([
  { name: 'CREWBOARD_BOGUS', meant: '' },
  { name: 'CREWBOARD_X', meant: '' },
  { name: 'CREWBOARD_KEY', meant: '' },
  { name: 'CREWBOARD_WORKSPACE', meant: ': did you mean CREWBOARD_WORKSPACES?' },
  { name: 'CREWBOARD_REDIS_URL', meant: ': did you mean REDIS_URL?' },
])('guesses what $name meant only when that is near', async ({ name, meant }) => {
  const terminal = recordedTerminal();
  await runCli(['config'], terminal, { [name]: '1', CREWBOARD_CONFIG: '-' });
  expect(terminal.messages).toContain(`warning: ${name} is set, and nothing reads it${meant}`);
});

test('shows of secrets only that they are set, and warns of a file that others may read', async () => {
  await using folder = await openTestFolder();
  const file = await configFile(folder, {
    apiKey: SECRET,
    redisUrl: `redis://me:${SECRET}@host:1`,
    anthropicBaseUrl: `http://host/?key=${SECRET}`,
  });
  await chmod(file, 0o644);
  for (const flags of [[], ['--json']]) {
    const terminal = recordedTerminal();
    const variables = { CREWBOARD_CONFIG: file, CREWBOARD_PROT: '1', ANTHROPIC_API_KEY: SECRET };
    expect(await runCli(['config', ...flags, '--key', SECRET], terminal, variables)).toBe(0);
    const said = terminal.out() + terminal.messages.join('\n');
    expect(said).not.toContain(SECRET);
    expect(said).toContain('(set)');
    expect(said).toContain('holds redisUrl, apiKey');
    expect(said).toContain('CREWBOARD_PROT is set, and nothing reads it: did you mean CREWBOARD_PORT?');
  }
});

test.each([
  { content: { prot: 1 }, says: 'there is no key "prot": did you mean "port"?' },
  { content: { CREWBOARD_DATA_DIR: 'x' }, says: 'did you mean "dataDir"?' },
  { content: { port: 'x' }, says: 'port must be a whole number from 0 to 65535, got "x"' },
  { content: { port: null }, says: 'port must be a string, a number or a boolean' },
  { content: { host: ['a'] }, says: 'host must be a string, a number or a boolean' },
  { content: { apiKey: 'short' }, says: 'apiKey must be at least 16 characters' },
  { content: [1], says: 'must be a JSON object' },
  { content: `{"apiKey": "${SECRET}",}`, says: 'is not JSON' },
])('names the file and what is wrong: $says', async ({ content, says }) => {
  await using folder = await openTestFolder();
  const file = await configFile(folder, content);
  const terminal = recordedTerminal();
  expect(await runCli(['ls', '--config', file], terminal, {})).toBe(2);
  expect(terminal.messages.join()).toContain(`crewboard: ${file}: `);
  expect(terminal.messages.join()).toContain(says);
  expect(terminal.messages.join()).not.toContain(SECRET);
});

test('refuses a named file that is not there', () => {
  expect(() => readConfig({}, '/nowhere/c.json')).toThrow(
    'the configuration file /nowhere/c.json is not there',
  );
  expect(readConfig({}, '-').file).toBeUndefined();
});

test('hands what the file says on to children, which read no file themselves', async () => {
  await using folder = await openTestFolder();
  const file = await configFile(folder, { workspaces: ['/a', '/b'], leaseMs: 5000 });
  const { childVariables, environment } = readConfig({ CREWBOARD_CONFIG: file, SHELL: 'sh' });
  expect(environment.CREWBOARD_LEASE_MS).toBe(5000);
  expect(childVariables).toEqual({
    CREWBOARD_CONFIG: '-',
    CREWBOARD_WORKSPACES: '/a:/b',
    CREWBOARD_LEASE_MS: '5000',
  });
});

test('has a key for each variable but those that only the environment can say', () => {
  const left = Environment.keyof().options.filter((name) => ![...CONFIG_KEYS.values()].includes(name));
  expect(left).toEqual(['CREWBOARD_CONFIG', 'CREWBOARD_SIMULATED_MODEL_URL']);
  expect(CONFIG_KEYS.get('dataDir')).toBe('CREWBOARD_DATA_DIR');
  expect(CONFIG_KEYS.get('redisUrl')).toBe('REDIS_URL');
});

test.each([
  { args: ['ls', '--no-color'], variables: { FORCE_COLOR: '1' }, wish: 'never' },
  { args: ['ls', '--color'], variables: { NO_COLOR: '1' }, wish: 'always' },
  { args: ['ls', '--color', '--no-color'], variables: {}, wish: 'never' },
  { args: ['ls'], variables: { FORCE_COLOR: '1', NO_COLOR: '1' }, wish: 'never' },
  { args: ['ls'], variables: { FORCE_COLOR: '1', NO_COLOR: '' }, wish: 'always' },
  { args: ['ls'], variables: { FORCE_COLOR: '0', NO_COLOR: '' }, wish: 'never' },
  { args: ['ls'], variables: { FORCE_COLOR: '0' }, wish: 'never' },
  { args: ['ls'], variables: { NO_COLOR: '1' }, wish: 'never' },
  { args: ['ls'], variables: { NO_COLOR: '' }, wish: 'auto' },
] as const)('takes $args with $variables for $wish', ({ args, variables, wish }) => {
  expect(readColourWish(args, variables)).toBe(wish);
});
