import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStack, type Stack } from '../support/stack.ts';
import { HAS_BUBBLEWRAP, processesOf, uniqueSleep } from '../tools/commands/support.ts';
import { eventsByTask, readRecord } from './support/job-record.ts';

const EXIT_WITHIN_MS = 10_000;

let path: string;

beforeAll(async () => {
  path = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-command-worker-')));
});

afterAll(() => rm(path, { recursive: true, force: true }));

/** A job whose command blocks the first time that it is run, and ends well the second time. */
async function startBlocking(stack: Stack) {
  const sleep = uniqueSleep();
  const mark = sleep.replace(' ', '-');
  const run = `if [ -e ${mark} ]; then echo again; else touch ${mark}; setsid ${sleep} & ${sleep}; fi`;
  const { id } = await stack.client.jobs.submit({
    workspace: { path },
    tasks: [{ title: 'Blocks once', executor: 'command', command: { run } }],
  });
  await vi.waitFor(async () => expect(await processesOf(sleep)).toHaveLength(2), 30_000);
  return { id, sleep };
}

for (const mode of ['host', ...(HAS_BUBBLEWRAP ? ['sandbox'] : [])]) {
  const variables = () => ({ CREWBOARD_COMMANDS: mode, CREWBOARD_WORKSPACES: path });

  describe(`a worker that runs a command (${mode})`, () => {
    it('gives the task back at once on SIGTERM and leaves no process; another worker completes it', {
      timeout: 120_000,
    }, async () => {
      // A lease far longer than the test: what is ready again was given back, and did not expire.
      await using stack = await openStack({
        variables: { ...variables(), CREWBOARD_LEASE_MS: '600000' },
      });
      const first = await stack.startWorker();
      const { id, sleep } = await startBlocking(stack);
      const started = performance.now();
      first.send('SIGTERM');
      expect(await first.ended).toBe(0);
      expect(performance.now() - started).toBeLessThan(EXIT_WITHIN_MS);
      expect(await processesOf(sleep)).toEqual([]);
      expect((await stack.client.jobs.get(id)).counts).toMatchObject({ ready: 1, failed: 0 });

      await stack.startWorker();
      expect((await stack.untilEnded(id)).status).toBe('succeeded');
      const record = await readRecord(stack, id);
      expect(record.tasks).toMatchObject([{ attempt: 2, failures: 0, result: { output: 'again' } }]);
      expect(Object.values(eventsByTask(record, 'task.released'))).toEqual([1]);
    });
  });
}

describe.skipIf(!HAS_BUBBLEWRAP)('a worker that is killed while it runs a command', () => {
  it('takes the sandbox with it, and the command is run again as a new attempt, with a strike', {
    timeout: 120_000,
  }, async () => {
    const variables = { CREWBOARD_COMMANDS: 'sandbox', CREWBOARD_WORKSPACES: path };
    await using stack = await openStack({ variables });
    const victim = await stack.startWorker();
    const { id, sleep } = await startBlocking(stack);
    await victim.kill();
    await vi.waitFor(async () => expect(await processesOf(sleep)).toEqual([]), 20_000);

    await stack.startWorker();
    const expired = await stack.untilEvent(id, ({ type }) => type === 'task.expired');
    expect(expired.data).toMatchObject({ strikes: 1, reason: expect.stringContaining('while a tool ran') });
    expect((await stack.untilEnded(id)).status).toBe('succeeded');
    const record = await readRecord(stack, id);
    expect(record.tasks).toMatchObject([{ attempt: 2, failures: 0, result: { output: 'again' } }]);
  });
});
