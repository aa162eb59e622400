import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../apps/cli/src/config.ts';
import { exists } from '../../apps/cli/src/local/process-identity.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { testRedisUrl } from '../support/redis.ts';
import { openTestFolder, type TestFolder } from './support/folder.ts';
import { startProcess, type TestProcess, untilGone } from './support/processes.ts';
import { recordedTerminal } from './support/terminal.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUPERVISOR = fileURLToPath(new URL('./support/up-with-stand-ins.ts', import.meta.url));
const hasServer = inject('redisKind') === 'server';

const Ready = z.object({ url: z.string(), redis: z.string(), pids: z.record(z.string(), z.number()) });

/** A supervisor on `folder`; its Redis is this run's unless the test wants one of its own. */
function startSupervisor(folder: TestFolder, variables: Record<string, string> = {}, port = 0): TestProcess {
  return startProcess(['--conditions=@crewboard/source', '--import', 'tsx', SUPERVISOR, String(port)], {
    cwd: ROOT,
    env: {
      PATH: readConfig().childVariables.PATH ?? '',
      CREWBOARD_DATA_DIR: join(folder.path, 'data'),
      REDIS_URL: testRedisUrl(),
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      ...variables,
    },
  });
}

async function ready(supervisor: TestProcess) {
  const { pids, ...rest } = Ready.parse(await supervisor.ready);
  return { ...rest, pids, all: Object.values(pids) };
}

/** `crewboard doctor` on the supervisor's data folder. */
async function runDoctorOn(folder: TestFolder) {
  const terminal = recordedTerminal();
  const code = await runCli(['doctor'], terminal, { CREWBOARD_DATA_DIR: join(folder.path, 'data') });
  return { code, messages: terminal.messages };
}

test('ends every child when it is killed with -9', async () => {
  await using folder = await openTestFolder();
  await using supervisor = startSupervisor(folder, {
    REDIS_URL: '',
    PATH: '/nowhere',
    ANTHROPIC_BASE_URL: '',
  });
  const { pids, redis, all } = await ready(supervisor);
  expect(Object.keys(pids)).toEqual(['redis', 'simulated-model', 'api', 'worker']);
  expect(redis).toBe('embedded');
  const doctor = await runDoctorOn(folder);
  expect(doctor).toEqual({ code: 0, messages: ['There are no boards in Redis to look over.'] });
  expect(supervisor.stderr()).toContain('NOTHING SURVIVES A RESTART');
  expect(supervisor.stderr()).toContain('SIMULATED MODEL');
  supervisor.child.kill('SIGKILL');
  for (const pid of all) await untilGone(pid);
});

test('ends every child and itself on SIGTERM, with exit code 0', async () => {
  await using folder = await openTestFolder();
  await using supervisor = startSupervisor(folder);
  const { all } = await ready(supervisor);
  supervisor.child.kill('SIGTERM');
  expect(await supervisor.ended).toBe(0);
  expect(all.filter(exists)).toEqual([]);
});

test('refuses a second start on the folder with the URL of the first, also while that one keeps running', async () => {
  await using folder = await openTestFolder();
  await using first = startSupervisor(folder);
  const { url, all } = await ready(first);
  await using second = startSupervisor(folder);
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`already runs on ${join(folder.path, 'data')} at `);
  expect(second.stderr()).toContain(`${new URL(url).host} (process ${first.child.pid})`);
  expect(all.every(exists)).toBe(true);
});

test('takes the folder over from a supervisor that was killed with -9', async () => {
  await using folder = await openTestFolder();
  await using first = startSupervisor(folder);
  await ready(first);
  first.child.kill('SIGKILL');
  await first.ended;
  await using second = startSupervisor(folder);
  await expect(ready(second)).resolves.toMatchObject({ redis: 'external' });
});

test.runIf(hasServer)('ends its Redis, too, when it is killed with -9', async () => {
  await using folder = await openTestFolder();
  await using supervisor = startSupervisor(folder, { REDIS_URL: '' });
  const { redis, all } = await ready(supervisor);
  expect(redis).toBe('server');
  supervisor.child.kill('SIGKILL');
  for (const pid of all) await untilGone(pid);
});

test.runIf(hasServer)('adopts the Redis of a supervisor that was killed with -9, and stops it', async () => {
  await using folder = await openTestFolder();
  await using first = startSupervisor(folder, { REDIS_URL: '' });
  const before = await ready(first);
  first.child.kill('SIGKILL');
  await first.ended;
  await using second = startSupervisor(folder, { REDIS_URL: '' });
  const after = await ready(second);
  expect(after.pids.redis).toBe(before.pids.redis);
  expect(second.stderr()).toContain('took over the Redis');
  second.child.kill('SIGINT');
  expect(await second.ended).toBe(0);
  expect(after.all.filter(exists)).toEqual([]);
});

test('names a taken port and leaves nothing running', async () => {
  await using folder = await openTestFolder();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await using supervisor = startSupervisor(folder, { REDIS_URL: '' }, port);
  expect(await supervisor.ended).toBe(1);
  expect(supervisor.stderr()).toMatch(new RegExp(`^port ${port} is taken: .*--port N.*\n$`));
  await new Promise((resolve) => taken.close(resolve));
});

test('says that REDIS_URL is out of reach, without its password', async () => {
  await using folder = await openTestFolder();
  await using supervisor = startSupervisor(folder, { REDIS_URL: 'redis://me:secret@127.0.0.1:1' });
  expect(await supervisor.ended).toBe(1);
  expect(supervisor.stderr()).toContain("the Redis at redis://me:***@127.0.0.1:1 can't be reached");
  expect(supervisor.stderr()).not.toContain('secret');
});

test.skipIf(process.platform !== 'linux')(
  'hands children what they need of the environment and no more',
  async () => {
    await using folder = await openTestFolder();
    await using supervisor = startSupervisor(folder, {
      AWS_SECRET_ACCESS_KEY: 'x',
      CREWBOARD_LOG_LEVEL: 'warn',
    });
    const { pids } = await ready(supervisor);
    const variables = await readFile(`/proc/${pids.api}/environ`, 'utf8');
    expect(variables).toContain(`REDIS_URL=${testRedisUrl()}`);
    expect(variables).toContain('CREWBOARD_LOG_LEVEL=warn');
    expect(variables).toMatch(/CREWBOARD_API_KEY=cb_\w{24}/);
    expect(variables).not.toContain('AWS_SECRET_ACCESS_KEY');
  },
);
