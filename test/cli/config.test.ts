import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Environment } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { readColourWish, readConfig } from '../../apps/cli/src/config.ts';
import { CONFIG_KEYS } from '../../apps/cli/src/config-file.ts';
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
  expect(() => readConfig({}, '/nowhere/c.json')).toThrow("the configuration file can't be read");
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
