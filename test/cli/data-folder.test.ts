import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDataFolder } from '../../apps/cli/src/local/create-data-folder.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

const ignored = (root: string) => readFile(join(root, '.gitignore'), 'utf8');

test('makes the folder and those above it, ignored by git as a whole', async () => {
  await using folder = await openTestFolder();
  const root = join(folder.path, 'a/b/data');
  await createDataFolder(root);
  expect((await stat(join(root, 'logs'))).isDirectory()).toBe(true);
  expect(await ignored(root)).toBe('*\n');
});

test('ignores the whole of a folder that holds only what Crewboard puts there', async () => {
  await using folder = await openTestFolder();
  for (const name of ['logs', 'redis', 'locks', 'artifacts', 'archive']) await mkdir(join(folder.path, name));
  for (const name of ['api-key', 'server.json']) await writeFile(join(folder.path, name), '');
  await createDataFolder(folder.path);
  expect(await ignored(folder.path)).toBe('*\n');
});

test('takes a link to a folder', async () => {
  await using folder = await openTestFolder();
  await mkdir(join(folder.path, 'real'));
  await symlink('real', join(folder.path, 'link'));
  await createDataFolder(join(folder.path, 'link'));
  expect(await ignored(join(folder.path, 'real'))).toBe('*\n');
});

test('ignores only its own entries in a folder that holds other things', async () => {
  await using folder = await openTestFolder();
  await writeFile(join(folder.path, 'index.ts'), '');
  await createDataFolder(folder.path);
  const lines = (await ignored(folder.path)).trimEnd().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['/api-key*', '/server.json*', '/logs/', '/redis/', '/locks/', '/artifacts/']),
  );
  expect(lines).not.toContain('*');
});

test('leaves a .gitignore as it is', async () => {
  await using folder = await openTestFolder();
  await writeFile(join(folder.path, '.gitignore'), 'mine\n');
  await createDataFolder(folder.path);
  expect(await ignored(folder.path)).toBe('mine\n');
});

test('warns of a folder that others can look into, and only of such a one', async () => {
  await using folder = await openTestFolder();
  const said: string[] = [];
  await createDataFolder(folder.path, (line) => said.push(line));
  expect(said).toEqual([]);
  await chmod(folder.path, 0o750);
  await createDataFolder(folder.path, (line) => said.push(line));
  expect(said).toEqual([
    `WARNING: the data folder ${folder.path} is open to other users of this machine (mode 750): chmod 700 ${folder.path}`,
  ]);
  expect((await stat(folder.path)).mode & 0o777).toBe(0o750);
});

interface Place {
  what: string;
  path: string;
  why: string;
}

const PLACES: Place[] = [
  { what: 'a file', path: 'file', why: 'a file or a broken link has its place' },
  { what: 'below a file', path: 'file/x/y', why: 'a part of the path is a file' },
  { what: 'a dangling link', path: 'dangling', why: 'a file or a broken link has its place' },
  { what: 'below a dangling link', path: 'dangling/x', why: 'a file or a broken link has its place' },
  {
    what: 'below a link in a circle',
    path: 'circle/x',
    why: 'a part of the path is a link that leads in a circle',
  },
  {
    what: 'with a file in the place of its logs',
    path: '.',
    why: 'a file or a broken link has its place',
  },
];
// Where the system makes no folders, a recursive mkdir of Node tries for ever.
if (process.platform === 'linux') {
  PLACES.push({ what: 'below /proc', path: '/proc/nope', why: 'the system makes no folders there' });
}

test.each(PLACES)(
  'refuses a data folder that is $what in one line, for `up` and for clients',
  async ({ path, why }) => {
    await using folder = await openTestFolder();
    await writeFile(join(folder.path, 'file'), '');
    await writeFile(join(folder.path, 'logs'), '');
    await symlink('nowhere', join(folder.path, 'dangling'));
    await symlink('circle', join(folder.path, 'circle'));
    const dataDir = path.startsWith('/') ? path : join(folder.path, path);
    const run = async (args: string[]) => {
      const terminal = recordedTerminal();
      const code = await runCli(args, terminal, { CREWBOARD_DATA_DIR: dataDir });
      return { code, messages: terminal.messages };
    };
    const up = await run(['up']);
    expect(up.code).toBe(2);
    expect(up.messages).toHaveLength(1);
    expect(up.messages[0]).toContain(`crewboard: CREWBOARD_DATA_DIR must name a folder`);
    expect(up.messages[0]).toContain(`(${why}): ${dataDir}`);
    const ls = await run(['ls']);
    expect(ls.code).toBe(2);
    expect(ls.messages[0]).toContain('there is no API key');
  },
);
