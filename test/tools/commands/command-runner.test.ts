import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommandRunner } from '@crewboard/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeSandbox } from './support.ts';

const signal = new AbortController().signal;
let workspaceRoot: string;

beforeAll(async () => {
  workspaceRoot = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-commands-')));
});

afterAll(async () => {
  await rm(workspaceRoot, { recursive: true, force: true });
});

const modes = [
  ['host', describe],
  ['sandbox', describeSandbox],
] as const;

for (const [mode, describeMode] of modes) {
  describeMode(`commands (${mode})`, () => {
    const run = (command: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
      createCommandRunner({ mode, workspaceRoot, deniedPaths: [], bounds: { graceMs: 300 } })(command, {
        timeoutMs: 20_000,
        signal,
        ...options,
      });

    it('answers the exit code and both outputs in the order of writing', async () => {
      const end = await run('for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7');
      expect(end).toMatchObject({
        exitCode: 7,
        signal: null,
        timedOut: false,
        truncated: false,
        output: 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n',
      });
    });
  });
}
