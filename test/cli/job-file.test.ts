import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readJobFile } from '../../apps/cli/src/job-file.ts';
import { openTestFolder } from './support/folder.ts';

async function writeJob(folder: string, job: object): Promise<string> {
  await mkdir(join(folder, 'jobs'));
  const file = join(folder, 'jobs', 'job.json');
  await writeFile(file, JSON.stringify(job));
  return file;
}

test("takes a relative workspace from the job file's folder", async () => {
  await using folder = await openTestFolder();
  const file = await writeJob(folder.path, { goal: 'Review', workspace: { path: '../docs' } });
  expect(await readJobFile(file)).toEqual({ goal: 'Review', workspace: { path: join(folder.path, 'docs') } });
});

test('leaves an absolute workspace and a job without one as they are', async () => {
  await using folder = await openTestFolder();
  const file = await writeJob(folder.path, { goal: 'Review', workspace: { path: '/srv/docs' } });
  expect(await readJobFile(file)).toEqual({ goal: 'Review', workspace: { path: '/srv/docs' } });
  await writeFile(file, '{"goal":"Think"}');
  expect(await readJobFile(file)).toEqual({ goal: 'Think' });
});

test('takes --workspace from the working directory, above the file', async () => {
  await using folder = await openTestFolder();
  const file = await writeJob(folder.path, { goal: 'Review', workspace: { path: '/srv/docs' } });
  expect(await readJobFile(file, 'site')).toEqual({ goal: 'Review', workspace: { path: resolve('site') } });
});

test('reads a file with a byte order mark', async () => {
  await using folder = await openTestFolder();
  const file = await writeJob(folder.path, {});
  await writeFile(file, '\ufeff{"goal":"Th\u00efnk"}');
  expect(await readJobFile(file)).toEqual({ goal: 'Th\u00efnk' });
});

test('says that a file is not UTF-8', async () => {
  await using folder = await openTestFolder();
  const file = await writeJob(folder.path, {});
  await writeFile(file, Buffer.from('\ufeff{"goal":"Think"}', 'utf16le'));
  await expect(readJobFile(file)).rejects.toThrow(`${file} is not UTF-8 text: save it as UTF-8`);
});
