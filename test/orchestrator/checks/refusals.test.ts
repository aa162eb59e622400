import type { Check, NewTask } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openOutsideJob, refusalOf } from '../../e2e/support/outside.ts';
import { folderWith, openScriptedStack } from '../../regression/support.ts';
import { openLocalStack } from '../../support/local-stack.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../../support/scripted-messages-api.ts';

const ON = { CREWBOARD_COMMANDS: 'host' };
const checkedBy = (check: Check): NewTask => ({
  title: 'T',
  key: 'a',
  executor: 'external',
  acceptance: [{ id: 'c', text: 'holds', check }],
});

describe('a task that could never be checked is refused with the path,', () => {
  it.each<[string, NewTask, string, RegExp]>([
    ['of a schema', { title: 'T', outputSchema: { type: 'strin' } }, 'outputSchema', /type/],
    ['of a check’s schema', checkedBy({ schema: { requred: [] } }), 'acceptance[0].check.schema', /requred/],
    [
      'of a field that the input lacks',
      checkedBy({ run: 'test -e {path}' }),
      'acceptance[0].check.run',
      /\{path\}/,
    ],
    ['of policy checked without checks', { title: 'T', policy: 'checked' }, 'policy', /outputSchema/],
  ])('%s: when it is submitted, added and edited', async (_, task, path, reason) => {
    await using folder = await folderWith({});
    await using job = await openOutsideJob([{ key: 'a', title: 'A' }], {
      variables: ON,
      workspaces: [folder.path],
      body: { workspace: { path: folder.path } },
    });
    const { client } = job.stack;
    const external = { ...task, executor: 'external' as const };
    const { key: _key, ...patch } = task;
    const { version } = await job.task('a');
    const fine = { title: 'Fine', executor: 'external' as const };
    const workspace = { path: folder.path };
    const calls: [string, () => Promise<unknown>][] = [
      [`tasks[1].${path}`, () => client.jobs.submit({ workspace, tasks: [fine, external] })],
      [`tasks[0].${path}`, () => client.tasks.add(job.jobId, [{ ...external, key: 'b' }])],
      [path, () => client.tasks.edit(job.jobId, job.id('a'), { version, ...patch })],
    ];
    for (const [at, call] of calls) {
      const refusal = await refusalOf(call());
      expect(refusal).toMatchObject({ code: 'invalid_argument', extras: { path: at } });
      expect(refusal.detail).toMatch(reason);
      expect(refusal.detail).toContain('Nothing was changed');
    }
    expect((await client.jobs.get(job.jobId)).counts.total).toBe(1);
    expect((await job.task('a')).version).toBe(version);
  });

  it('of a command without a workspace, or with commands off', async () => {
    await using folder = await folderWith({});
    const tasks = [checkedBy({ run: 'true' })];
    await using on = await openLocalStack({ worker: false, variables: ON });
    expect(await refusalOf(on.client.jobs.submit({ tasks }))).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining('add workspace.path'),
      extras: { path: 'tasks[0].acceptance[0].check.run' },
    });
    await using off = await openLocalStack({
      worker: false,
      variables: { CREWBOARD_COMMANDS: 'off' },
      workspaces: [folder.path],
    });
    const submitted = off.client.jobs.submit({ workspace: { path: folder.path }, tasks });
    expect(await refusalOf(submitted)).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining('CREWBOARD_COMMANDS'),
      extras: { path: 'tasks[0].acceptance[0].check.run' },
    });
  });

  it('also when an edit of its input takes the field away, and not when the edit is stale anyway', async () => {
    await using folder = await folderWith({});
    await using job = await openOutsideJob(
      [{ ...checkedBy({ run: 'test -e {path}' }), input: { path: 'x' } }],
      {
        variables: ON,
        workspaces: [folder.path],
        body: { workspace: { path: folder.path } },
      },
    );
    const edit = (version: number, input: object) =>
      job.stack.client.tasks.edit(job.jobId, job.id('a'), { version, input: { ...input } });
    expect(await refusalOf(edit(1, { file: 'x' }))).toMatchObject({
      code: 'invalid_argument',
      extras: { path: 'acceptance[0].check.run' },
    });
    await edit(1, { path: 'y' });
    expect(await refusalOf(edit(1, { file: 'x' }))).toMatchObject({ code: 'stale_version' });
  });
});

it('evidence of kind check is the harness’ own: nobody may submit it', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { claimToken, task } = await job.claim('a');
  const answer = await job.stack.call('POST', `/v1/jobs/${job.jobId}/tasks/${task.id}/submit`, {
    claimToken,
    version: task.version,
    summary: 'done',
    evidence: [{ kind: 'check', text: 'passed' }],
  });
  expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument' } });
});

describe('the output of a job', () => {
  const outputSchema = { type: 'object', required: ['pages'], properties: { pages: { type: 'integer' } } };

  it('is refused as the answer of finish_job until it fits the job’s outputSchema, which the lead is shown', async () => {
    const refusals: { code?: string; problems?: unknown }[] = [];
    const openings: string[] = [];
    await using api = await startScriptedApi((request, call) => {
      if (call === 1) openings.push(JSON.stringify(request.messages[0]));
      else refusals.push(JSON.parse(lastResults(request)[0]?.text ?? '{}'));
      const output = [undefined, { pages: 'two' }, { pages: 2 }][call - 1];
      return reply([toolUse('finish_job', { summary: `try ${call}`, ...(output && { output }) })]);
    });
    await using stack = await openScriptedStack(api);
    const { job } = await stack.run({ goal: 'Count', outputSchema });
    expect(openings[0]).toContain('outputSchema');
    expect(refusals).toMatchObject([
      { code: 'check_failed', problems: [{ path: 'output', expected: 'object', got: 'nothing' }] },
      {
        code: 'check_failed',
        problems: [{ path: 'output.pages', expected: 'integer', got: '"two" (string)' }],
      },
    ]);
    expect(job.status).toBe('succeeded');
    expect(await stack.local.client.jobs.result(job.id)).toMatchObject({
      summary: 'try 3',
      output: { pages: 2 },
    });
  });

  it('can have no schema without a lead, and none that is no schema', async () => {
    await using stack = await openLocalStack({ worker: false });
    for (const body of [
      { outputSchema, tasks: [{ title: 'A' }] },
      { outputSchema: { type: 'strin' }, goal: 'Count' },
    ]) {
      expect(await refusalOf(stack.client.jobs.submit(body))).toMatchObject({
        code: 'invalid_argument',
        extras: { path: 'outputSchema' },
      });
    }
  });
});

describe('a lead', () => {
  /** Lets a lead plan one task with this check and answers what it was told. */
  async function planned(check: Check, tools?: ('read_file' | 'run_command')[]): Promise<unknown> {
    await using folder = await folderWith({});
    const told: unknown[] = [];
    await using api = await startScriptedApi((request, call) => {
      if (call === 2) told.push(JSON.parse(lastResults(request)[0]?.text ?? '{}'));
      const add = { op: 'add', ...checkedBy(check), executor: 'human' };
      if (call === 1) return reply([toolUse('board_plan', { ops: [add] })]);
      const waive = /t_[2-9a-z]{8}/.exec(JSON.stringify(told))?.[0];
      const waived = waive === undefined ? [] : [{ taskId: waive, reason: 'enough' }];
      return reply([toolUse('finish_job', { summary: 'done', waive: waived })]);
    });
    await using stack = await openScriptedStack(api, { variables: ON, workspaces: [folder.path] });
    await stack.run({
      goal: 'Plan',
      workspace: { path: folder.path },
      ...(tools === undefined ? {} : { tools }),
    });
    return told[0];
  }

  it('may plan checks by schema, and is told of one that is none', async () => {
    expect(await planned({ schema: { type: 'integer' } })).toMatchObject({
      created: { a: expect.any(String) },
    });
    expect(await planned({ schema: { type: 'strin' } })).toMatchObject({
      code: 'invalid_argument',
      path: 'ops[0].acceptance[0].check.schema',
    });
  });

  it('may plan commands as checks only in a job that gives it run_command', async () => {
    expect(await planned({ run: 'true' }, ['read_file'])).toMatchObject({ code: 'forbidden' });
    expect(await planned({ run: 'true' }, ['run_command'])).toMatchObject({
      created: { a: expect.any(String) },
    });
    expect(await planned({ run: 'true {x}' }, ['run_command'])).toMatchObject({
      code: 'invalid_argument',
      path: 'ops[0].acceptance[0].check.run',
    });
  });
});

it('a command task takes fields of its input, quoted; a missing one is refused', async () => {
  await using folder = await folderWith({});
  await using api = await startScriptedApi([]);
  await using stack = await openScriptedStack(api, { variables: ON, workspaces: [folder.path] });
  const command = { title: 'Say', executor: 'command' as const, command: { run: 'printf %s {what}' } };
  const body = { workspace: { path: folder.path } };
  const { tasks } = await stack.run({ ...body, tasks: [{ ...command, input: { what: "it's $HOME" } }] });
  expect(tasks[0]).toMatchObject({ status: 'completed', result: { output: "it's $HOME" } });
  const missing = stack.local.client.jobs.submit({ ...body, tasks: [{ ...command, input: {} }] });
  expect(await refusalOf(missing)).toMatchObject({
    code: 'invalid_argument',
    extras: { path: 'tasks[0].command.run' },
  });
});
