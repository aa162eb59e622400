import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../apps/cli/src/config.ts';
import { npmAbove, type ProcessEntry } from '../../apps/cli/src/local/parents.ts';
import { testRedisUrl } from '../support/redis.ts';
import { openTestFolder } from './support/folder.ts';
import { untilGone } from './support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SUPERVISOR = fileURLToPath(new URL('./support/up-with-stand-ins.ts', import.meta.url));
const SCRIPT = 'crewboard up --example';
const SHELL_PID = 20;

/** Reads from a table: process 20 is the parent, 10 is above it, 1 is init. */
function table(parent: string, above: string) {
  const entries: Record<number, ProcessEntry> = {
    [SHELL_PID]: { parent: 10, command: parent },
    10: { parent: 1, command: above },
    1: { parent: 0, command: '/sbin/init' },
  };
  return async (pid: number) => entries[pid];
}

test.each([
  { who: 'npm and its shell', parent: `sh -c ${SCRIPT}`, above: 'npm start', watched: [20, 10] },
  {
    who: 'npm and its shell, with more arguments',
    parent: `sh -c ${SCRIPT} --port 1`,
    above: 'npm start',
    watched: [20, 10],
  },
  { who: 'npm alone, whose shell made way', parent: 'npm start', above: '-bash', watched: [20] },
  {
    who: 'npm by the name of its file',
    parent: 'node /usr/lib/npm/bin/npm-cli.js start',
    above: '-bash',
    watched: [20],
  },
  { who: 'nobody, started from a shell below npm', parent: 'bash', above: 'npm run shell', watched: [] },
  { who: 'nobody, started by systemd', parent: '/sbin/init', above: '', watched: [] },
  { who: 'nobody, with no npm above the shell', parent: `sh -c ${SCRIPT}`, above: '-bash', watched: [] },
])('watches $who', async ({ parent, above, watched }) => {
  expect(await npmAbove(SCRIPT, SHELL_PID, table(parent, above))).toEqual(watched);
});

test.each([
  undefined,
  'crewboard up &',
  'nohup crewboard up > up.log 2>&1 & echo started',
  'setsid crewboard up',
])('watches nobody for the script %s, which may outlive npm', async (script) => {
  expect(await npmAbove(script, SHELL_PID, table(`sh -c ${script}`, 'npm start'))).toEqual([]);
});

test.each(['true && crewboard up', 'crewboard up > up.log 2>&1'])(
  'watches npm for the script %s',
  async (script) => {
    expect(await npmAbove(script, SHELL_PID, table(`sh -c ${script}`, 'npm start'))).toEqual([20, 10]);
  },
);

const Ready = z.object({ pids: z.record(z.string(), z.number()) });

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'ends `up` and every child when the npm that started it gets %s',
  async (signal) => {
    await using folder = await openTestFolder();
    const supervisor = `node --conditions=@crewboard/source --import tsx ${JSON.stringify(SUPERVISOR)} 0`;
    const scripts = { up: `cd ${JSON.stringify(ROOT)} && ${supervisor}` };
    await writeFile(join(folder.path, 'package.json'), JSON.stringify({ scripts }));
    const npm = spawn('npm', ['run', '--silent', 'up'], {
      cwd: folder.path,
      env: {
        PATH: readConfig().childVariables.PATH ?? '',
        CREWBOARD_DATA_DIR: join(folder.path, 'data'),
        REDIS_URL: testRedisUrl(),
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface(npm.stdout), 'line');
    const { pids } = Ready.parse(JSON.parse(String(line)));
    // The pipe is held by the shell and `up` as well: its end is theirs, and may come before the last child's is seen.
    const closed = once(npm, 'close');
    npm.kill(signal);
    for (const pid of Object.values(pids)) await untilGone(pid);
    await closed;
  },
);
