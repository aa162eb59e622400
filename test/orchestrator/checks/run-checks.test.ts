import { CrewboardError, type Task } from '@crewboard/contracts';
import type { CommandRunner } from '@crewboard/tools';
import { describe, expect, it } from 'vitest';
import { runChecks } from '../../../packages/orchestrator/src/checks/run-checks.ts';
import { createSchemaCompiler } from '../../../packages/orchestrator/src/checks/schema-compiler.ts';
import { HAS_BUBBLEWRAP, makeCommandWorkspace } from '../../tools/commands/support.ts';

const schemas = createSchemaCompiler();
const never = new AbortController().signal;
const commandCheck = (run: string, id = 'c') => ({ id, text: 'it holds', check: { run } });

/** Runs a task's checks with commands on the host, in `folder`. */
async function check(
  task: Pick<Task, 'acceptance'> & Partial<Pick<Task, 'outputSchema' | 'input'>>,
  output: unknown,
  openRunner: () => Promise<CommandRunner>,
  signal = never,
) {
  return runChecks(task, JSON.parse(JSON.stringify(output)), { schemas, openRunner, signal });
}

describe('the checks of a task', () => {
  it('run in order, outputSchema first, and stop at the first that fails', async () => {
    await using workspace = await makeCommandWorkspace('host', { runs: '' });
    const opened: number[] = [];
    const openRunner = async () => {
      opened.push(1);
      return (command: string, options: { timeoutMs: number; signal: AbortSignal }) =>
        workspace.run(command, options);
    };
    const acceptance = [
      commandCheck('echo a >> runs'),
      commandCheck('exit 3', 'd'),
      commandCheck('echo e >> runs', 'e'),
    ];
    const task = { outputSchema: { type: 'integer' }, acceptance };
    expect(await check(task, 'x', openRunner)).toMatchObject({ failure: { check: { id: 'outputSchema' } } });
    expect(opened).toEqual([]);
    expect(await check(task, 1, openRunner)).toMatchObject({
      passed: false,
      failure: { check: { id: 'd' }, line: 'exit code 3', exitCode: 3 },
    });
    expect(opened).toEqual([1]);
    expect((await workspace.run('cat runs')).output).toBe('a\n');
  });

  it('that end by a signal have failed', async () => {
    await using workspace = await makeCommandWorkspace('host');
    const run: CommandRunner = (command, options) => workspace.run(command, options);
    const task = { acceptance: [commandCheck('kill -9 $$')] };
    expect(await check(task, 1, async () => run)).toMatchObject({
      failure: { line: expect.stringMatching(/SIGKILL|137/) },
    });
  });

  it('keep what they wrote as clean evidence, the end of it when it is long', async () => {
    await using workspace = await makeCommandWorkspace('host');
    const run: CommandRunner = (command, options) => workspace.run(command, options);
    const noisy =
      'printf \'a\\000b\\377\\n\'; i=0; while [ $i -lt 3000 ]; do echo "line $i é"; i=$((i+1)); done';
    const end = await check({ acceptance: [commandCheck(noisy)] }, 1, async () => run);
    if (!end.passed) throw new Error('it failed');
    const [{ text = '' } = {}] = end.evidence;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(text.endsWith('line 2999 é\n')).toBe(true);
    expect(text.isWellFormed() && !text.includes('\0')).toBe(true);
  });

  it.runIf(HAS_BUBBLEWRAP)('run in the sandbox, where they see the workspace and no secrets', async () => {
    await using workspace = await makeCommandWorkspace('sandbox', { 'a b.ts': 'x', '.env': 'KEY=1' });
    const run: CommandRunner = (command, options) => workspace.run(command, options);
    const acceptance = [commandCheck('grep x {path} && ! grep KEY .env && test -w .')];
    expect(await check({ acceptance, input: { path: 'a b.ts' } }, 1, async () => run)).toMatchObject({
      passed: true,
    });
  });
});

describe('checks that could not be run are no verdict', () => {
  it.each<[string, () => Promise<CommandRunner>]>([
    [
      'because bubblewrap is missing',
      async () => async () => {
        throw new CrewboardError('unavailable', 'The command could not be started: spawn bwrap ENOENT.');
      },
    ],
    [
      'because the worker runs no commands',
      async () => {
        throw new CrewboardError('unavailable', 'this worker runs no commands: CREWBOARD_COMMANDS is off.');
      },
    ],
    [
      'because of a fault of our own',
      async () => async () => {
        throw new TypeError('x is not a function');
      },
    ],
  ])('%s', async (_, openRunner) => {
    await expect(check({ acceptance: [commandCheck('true')] }, 1, openRunner)).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/^check "c" could not be run: .*[^.]$/),
    });
  });

  it('but an abort goes through as it is', async () => {
    await using workspace = await makeCommandWorkspace('host');
    const abort = new AbortController();
    const reason = new Error('the lease is lost');
    const run: CommandRunner = (command, options) => {
      setImmediate(() => abort.abort(reason));
      return workspace.run(command, options);
    };
    const task = { acceptance: [commandCheck('sleep 600')] };
    await expect(check(task, 1, async () => run, abort.signal)).rejects.toBe(reason);
  });
});
