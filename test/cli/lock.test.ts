import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDataFolder } from '../../apps/cli/src/local/create-data-folder.ts';
import { ensureApiKey, publishServer } from '../../apps/cli/src/local/data-folder.ts';
import { lockFolder } from '../../apps/cli/src/local/lock.ts';
import { identify } from '../../apps/cli/src/local/process-identity.ts';
import { openTestFolder } from './support/folder.ts';

test('makes the data folder and its key for the owner only, once', async () => {
  await using test = await openTestFolder();
  const folder = await createDataFolder(join(test.path, '.crewboard'));
  const key = await ensureApiKey(folder);
  expect((await stat(folder.root)).mode & 0o777).toBe(0o700);
  expect((await stat(folder.keyFile)).mode & 0o777).toBe(0o600);
  expect(key.length).toBeGreaterThanOrEqual(16);
  expect(await ensureApiKey(await createDataFolder(folder.root))).toBe(key);
});

test('refuses a folder that a running process holds, naming its URL', async () => {
  await using test = await openTestFolder();
  const folder = await createDataFolder(test.path);
  const holder = spawn('sleep', ['60']);
  await once(holder, 'spawn');
  const identity = await identify(holder.pid);
  await writeFile(join(folder.locks, `${holder.pid}.json`), JSON.stringify(identity));
  await publishServer(folder, { url: 'http://127.0.0.1:4711', process: identity });

  await expect(lockFolder(folder)).rejects.toThrow(`at http://127.0.0.1:4711 (process ${holder.pid})`);
  expect(await readdir(folder.locks)).toEqual([`${holder.pid}.json`]);

  holder.kill('SIGKILL');
  await once(holder, 'close');
  const unlock = await lockFolder(folder);
  expect(await readdir(folder.locks)).toEqual([`${process.pid}.json`]);
  await unlock();
  expect(await readdir(folder.locks)).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'takes over from a process whose ID another one has now',
  async () => {
    await using test = await openTestFolder();
    const folder = await createDataFolder(test.path);
    await writeFile(
      join(folder.locks, `${process.ppid}.json`),
      JSON.stringify({ pid: process.ppid, began: '1' }),
    );
    const unlock = await lockFolder(folder);
    expect(await readdir(folder.locks)).toEqual([`${process.pid}.json`]);
    await unlock();
  },
);
