import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@crewboard/client';
import { expect, inject, test, vi } from 'vitest';
import { z } from 'zod';
import { EXAMPLES } from '../support/local-stack.ts';
import { openMachine } from './support/up-process.ts';
import { wcWords } from './support/wc-words.ts';

// Five processes start from source in each test.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const DOCS = join(EXAMPLES, 'docs');
const isLinux = process.platform === 'linux';
const hasServer = inject('redisKind') === 'server';
const Output = z.object({ pages: z.array(z.object({ file: z.string(), words: z.number() })) });

/** What stands in the instance's list of jobs: one, with the result of the example. */
async function theJob(client: Client) {
  const { jobs } = await client.jobs.list();
  expect(jobs).toHaveLength(1);
  const [job] = jobs;
  if (job === undefined) throw new Error('there is no job');
  return { job, result: await client.jobs.result(job.id) };
}

async function expectExample(client: Client): Promise<string> {
  const { job, result } = await theJob(client);
  const files = (await readdir(DOCS, { recursive: true })).filter((name) => name.endsWith('.md')).sort();
  const tasks = files.length + 1;
  expect(job).toMatchObject({
    status: 'succeeded',
    simulated: true,
    counts: { total: tasks, completed: tasks },
  });
  const { pages } = Output.parse(result.output);
  expect(pages.map(({ file }) => file).sort()).toEqual(files);
  for (const { file, words } of pages) {
    expect({ file, words }).toEqual({ file, words: wcWords(join(DOCS, file)) ?? words });
  }
  return job.id;
}

/** The compiler may have a process of its own besides. */
function expectParts(running: readonly string[], parts: readonly string[]): void {
  for (const part of parts) {
    expect(running.filter((command) => command.includes(`crewboard.js ${part}`))).toHaveLength(1);
  }
}

test.runIf(isLinux)(
  '`up --example` without a Redis on PATH runs the example, and Ctrl-C leaves no process and exit code 0',
  async () => {
    await using machine = await openMachine({ hasRedis: false });
    const up = machine.up('--example');
    await up.said('Runs until Ctrl-C.');
    expect(up.stderr()).toContain('NOTHING SURVIVES A RESTART');
    const id = await expectExample(await up.client());
    expect(up.stdout()).toContain(`Job ${id} succeeded: `);
    expect(up.stdout()).toContain('SIMULATED');
    expectParts(await machine.processes(), ['up', 'embedded-redis', 'simulated-model', 'api', 'worker']);
    expect(await up.end('SIGINT')).toBe(0);
    expect(await machine.processes()).toEqual([]);
  },
);

test.runIf(isLinux)('`up` killed with -9 on the embedded Redis leaves no process', async () => {
  await using machine = await openMachine({ hasRedis: false });
  const up = machine.up();
  await up.said('Runs until Ctrl-C.');
  expectParts(await machine.processes(), ['up', 'embedded-redis', 'simulated-model', 'api', 'worker']);
  expect(await up.end('SIGKILL')).toBe('SIGKILL');
  await machine.untilEmpty();
});

test.runIf(isLinux && hasServer)(
  'a second start on the data folder of a real Redis shows the job again; killed with -9, another takes over, or nothing is left',
  async () => {
    await using machine = await openMachine({ hasRedis: true });
    const first = machine.up('--example');
    await first.said('Runs until Ctrl-C.');
    const id = await expectExample(await first.client());
    expect(await first.end('SIGINT')).toBe(0);
    expect(await machine.processes()).toEqual([]);

    const second = machine.up('--example');
    await second.said('Runs until Ctrl-C.');
    expect(second.stderr()).toContain(`There are jobs already, so no example is submitted.`);
    expect(second.stderr()).toContain(`${id} succeeded`);
    expect(await expectExample(await second.client())).toBe(id);
    expect(await second.end('SIGKILL')).toBe('SIGKILL');

    const third = machine.up();
    await third.said('Runs until Ctrl-C.');
    expect(third.stderr()).toContain('took over the Redis');
    // What was to end the Redis of the second with it must let the third have it.
    await machine.untilOver(second);
    expect(await expectExample(await third.client())).toBe(id);
    expect(await third.end('SIGKILL')).toBe('SIGKILL');
    await machine.untilEmpty();
  },
);
