import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { announceWorker, isAnnounced, workerName } from '@crewboard/orchestrator';
import { expect, it } from 'vitest';
import { writeState } from '../../apps/cli/src/local/data-folder.ts';
import { passwordIn } from '../../apps/cli/src/local/redis-state.ts';
import { startArguments } from '../support/programs.ts';
import { openTestRedis } from '../support/redis.ts';
import { openStack } from '../support/stack.ts';
import { openTestFolder } from './support/folder.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Runs `crewboard worker --check` as a process of its own. */
function check(variables: Record<string, string>): Promise<{ code: number; out: string; said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...startArguments('crewboard'), 'worker', '--check', '--json'],
      { env: variables },
      (error, out, said) => resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    );
  });
}

it('says whether a worker of this machine takes tasks', { timeout: 120_000 }, async () => {
  await using stack = await openStack();
  const variables = { REDIS_URL: stack.store.url, CREWBOARD_PREFIX: stack.store.prefix };
  const before = await check(variables);
  expect(before).toMatchObject({ code: 1, out: '' });
  expect(before.said).toContain(`no worker of this machine (${hostname()}) takes tasks`);
  const worker = await stack.startWorker();
  await expect.poll(() => isAnnounced(stack.store.redis, stack.store.prefix, hostname())).toBe(true);
  expect(await check(variables)).toMatchObject({ code: 0, out: '{"ready":true}\n' });
  await using folder = await openTestFolder();
  await mkdir(join(folder.path, 'redis'));
  const { port } = new URL(stack.store.url);
  const kept = { port: Number(port), password: passwordIn(stack.store.url) };
  await writeState(join(folder.path, 'redis', 'redis.json'), kept);
  const beside = { CREWBOARD_DATA_DIR: folder.path, CREWBOARD_PREFIX: stack.store.prefix };
  expect(await check(beside)).toMatchObject({ code: 0, out: '{"ready":true}\n' });
  worker.send('SIGTERM');
  await worker.ended;
  expect((await check(variables)).code).toBe(1);
  const nowhere = await check({ REDIS_URL: 'redis://127.0.0.1:1' });
  expect(nowhere).toMatchObject({ code: 1, said: expect.stringContaining("can't be reached") });
});

it('takes no other machine for this one, and a worker without models for one', async () => {
  await using store = openTestRedis();
  const ending = new AbortController();
  const worker = {
    id: workerName('a-1', 7),
    providers: ['anthropic'],
    hasModels: false,
    log: SILENT,
  } as const;
  const announced = announceWorker(store.redis, store.prefix, worker, ending.signal);
  const isThere = (host: string) => isAnnounced(store.redis, store.prefix, host);
  await expect.poll(() => isThere('a-1')).toBe(true);
  expect(await isThere('a')).toBe(false);
  expect(await isThere('b')).toBe(false);
  ending.abort();
  await announced;
  expect(await isThere('a-1')).toBe(false);
});
