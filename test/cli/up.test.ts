import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JobResult, newSecret, ResultLine } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../apps/cli/src/config.ts';
import { exists } from '../../apps/cli/src/local/process-identity.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { testRedisUrl } from '../support/redis.ts';
import { openTestFolder } from './support/folder.ts';
import { CLI, startProcess } from './support/processes.ts';
import { recordedTerminal } from './support/terminal.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/docs-review.json', import.meta.url));
const Ready = z.object({ url: z.url(), simulated: z.boolean(), pids: z.record(z.string(), z.number()) });

/** Runs one command against the `up` on `dataDir`, found by its data folder alone. */
async function cli(dataDir: string, ...args: string[]) {
  const terminal = recordedTerminal();
  const code = await runCli(args, terminal, { CREWBOARD_DATA_DIR: dataDir });
  return { code, out: terminal.out(), messages: terminal.messages };
}

test('`up` runs the example to a result, for commands that only know its data folder, and stops with code 0', async () => {
  await using folder = await openTestFolder();
  const dataDir = join(folder.path, '.crewboard');
  await using up = startProcess([CLI, 'up', '--json', '--port', '0'], {
    cwd: folder.path,
    env: {
      PATH: readConfig().childVariables.PATH ?? '',
      REDIS_URL: testRedisUrl(),
      CREWBOARD_PREFIX: `{t_${newSecret().slice(0, 12)}}`,
      CREWBOARD_WORKSPACES: join(EXAMPLE, '..'),
    },
  });
  const { url, simulated, pids } = Ready.parse(await up.ready);
  expect(simulated).toBe(true);

  const run = await cli(dataDir, 'run', EXAMPLE, '--json');
  expect(run.messages.join('\n'), run.out).toContain('completed #1 ');
  const result = JobResult.parse(JSON.parse(run.out));
  expect(run.code).toBe(0);
  expect(result.counts.completed).toBe(result.counts.total);

  const results = await cli(dataDir, 'results', result.jobId);
  const lines = results.out.trimEnd().split('\n');
  expect(lines.map((line) => ResultLine.parse(JSON.parse(line)).status)).toEqual(
    Array(result.counts.total).fill('completed'),
  );

  const key = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
  expect((await fetch(`${url}/v1/jobs`)).status).toBe(401);
  expect((await fetch(`${url}/v1/jobs`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);

  up.child.kill('SIGINT');
  expect(await up.ended).toBe(0);
  expect(Object.values(pids).filter(exists)).toEqual([]);
  expect((await cli(dataDir, 'ls')).messages[0]).toContain('start it with `crewboard up`');
});
