import { mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXAMPLES, openLocalStack } from '../support/local-stack.ts';
import { testRedisUrl } from '../support/redis.ts';
import { startService } from '../support/service-process.ts';

const STARTS = { timeout: 60_000 };
const MODEL = {
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  CREWBOARD_API_KEY: 'cb_data-folder-key-0123456789',
};

it.each(['api', 'worker'] as const)(
  '%s does not start on a data folder that can not be made',
  STARTS,
  async (command) => {
    const variables = {
      ...MODEL,
      REDIS_URL: testRedisUrl(),
      CREWBOARD_PORT: '0',
      CREWBOARD_DATA_DIR: '/proc/crewboard',
    };
    await expect(startService(command, variables, tmpdir())).rejects.toThrow(
      'CREWBOARD_DATA_DIR must name a folder that can be made and written to (ENOENT: no such file or directory): /proc/crewboard',
    );
  },
);

it('is not ready while its data folder is away, and alive all the same', STARTS, async () => {
  await using stack = await openLocalStack({ worker: false });
  const away = `${stack.dataDir}.away`;
  await rename(stack.dataDir, away);
  const ready = await stack.call('GET', '/readyz');
  expect(ready).toMatchObject({
    status: 503,
    json: {
      ready: false,
      redis: 'ok',
      reason: expect.stringContaining('data folder: it takes no writes (ENOENT'),
    },
  });
  expect((await stack.call('GET', '/healthz')).status).toBe(200);
  await rename(away, stack.dataDir);
  const status = async () => (await stack.call('GET', '/readyz')).status;
  await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(200);
});

it(
  'warns of workspace roots that are missing, names them where it refuses, and uses them once they are there',
  STARTS,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'crewboard-roots-'));
    const missing = join(folder, 'later');
    await using stack = await openLocalStack({
      variables: { CREWBOARD_WORKSPACES: `${EXAMPLES}:${missing}` },
      worker: false,
    });
    const warning = stack
      .logged()
      .split('\n')
      .find((line) => line.includes('CREWBOARD_WORKSPACES names folders'));
    expect(JSON.parse(warning ?? '{}')).toMatchObject({ missing: [missing] });
    const submit = (path: string) =>
      stack.call('POST', '/v1/jobs', { workspace: { path }, tasks: [{ title: 'A', executor: 'human' }] });
    expect(await submit(folder)).toMatchObject({
      status: 403,
      json: {
        detail: expect.stringContaining(
          `outside the allowed roots (${(await realpath(EXAMPLES)).replace(/\/$/, '')}; missing: ${missing}). Nothing`,
        ),
      },
    });
    expect(await submit(join(missing, 'site'))).toMatchObject({
      status: 400,
      json: {
        detail: expect.stringContaining(`does not exist, for the allowed root ${missing} does not exist`),
      },
    });
    await rename(await mkdtemp(join(tmpdir(), 'crewboard-root-')), missing);
    expect((await submit(missing)).status).toBe(202);
    await rm(folder, { recursive: true });
  },
);
