import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoardEvent, JobBody, NewTask } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { folderWith, openScriptedStack, repliesIn } from '../../regression/support.ts';
import {
  lastResults,
  type MessagesRequest,
  reply,
  type Script,
  startScriptedApi,
  text,
  toolUse,
} from '../../support/scripted-messages-api.ts';
import { givesUp, submits } from './support.ts';

/** What a submission of the reply before was answered, parsed. */
const answerTo = (request: MessagesRequest) => JSON.parse(lastResults(request)[0]?.text ?? '{}');

/** Runs a job on a stack whose commands run on the host; `variables` above that. */
async function runJob(
  script: Script,
  body: JobBody,
  folder?: string,
  variables: Record<string, string> = {},
) {
  await using api = await startScriptedApi(script);
  await using stack = await openScriptedStack(api, {
    ...(folder === undefined ? {} : { workspaces: [folder] }),
    variables: { CREWBOARD_COMMANDS: 'host', ...variables },
  });
  const { job, tasks, journals } = await stack.run(
    folder === undefined ? body : { ...body, workspace: { path: folder } },
  );
  const events: BoardEvent[] = await stack.boards.events(job.id, '0-0', 1000);
  const attempts = await Promise.all(
    tasks.map(({ id, attempt }) => stack.boards.attempts(job.id, id, attempt)),
  );
  return {
    job,
    tasks,
    task: tasks[0],
    journals,
    attempts: attempts[0] ?? [],
    events,
    requests: api.requests,
  };
}

const checkEvents = (events: readonly BoardEvent[]) =>
  events.filter(({ type }) => type === 'task.checked').map(({ data, by, status }) => ({ data, by, status }));

const TYPED: NewTask = {
  title: 'Count words',
  outputSchema: { type: 'object', required: ['words'], properties: { words: { type: 'integer' } } },
};
const HARNESS = { kind: 'harness', id: 'check' };

/** A task that is done when the file says so. */
const FILED: NewTask = {
  title: 'Write the file',
  input: { file: 'it is.txt' },
  acceptance: [
    { id: 'says-done', text: 'the file says done', check: { run: 'cat {file}; grep -qx done {file}' } },
    { id: 'polite', text: 'it is polite' },
  ],
};

describe('a submission of a built-in agent', () => {
  it('whose output does not fit is told what to mend, and the next one is completed with its evidence', async () => {
    const answers: unknown[] = [];
    const { job, task, events, requests } = await runJob(
      (request, call) => {
        if (call === 1) return submits(request, 1, { output: { words: '12' } });
        answers.push(answerTo(request));
        return submits(request, 2, { output: { words: 12 } });
      },
      { tasks: [TYPED] },
    );
    expect(job.status).toBe('succeeded');
    expect(requests).toHaveLength(2);
    expect(answers).toEqual([
      {
        code: 'check_failed',
        next: 'board_submit',
        detail:
          'the output failed: output.words: expected integer, got "12" (string) (write the number without quotes). Nothing was changed. Mend it, then submit again.',
        retry: 'after_fix',
        check: 'outputSchema',
        asked: 'the output fits outputSchema',
        problems: [
          {
            path: 'output.words',
            expected: 'integer',
            got: '"12" (string)',
            hint: 'write the number without quotes',
          },
        ],
      },
    ]);
    expect(task).toMatchObject({
      policy: 'checked',
      status: 'completed',
      attempt: 1,
      failures: 0,
      result: { output: { words: 12 } },
      evidence: [{ kind: 'check', passed: true }],
    });
    expect(checkEvents(events)).toEqual([
      {
        data: {
          passed: false,
          check: 'outputSchema',
          reason: 'output.words: expected integer, got "12" (string) (write the number without quotes)',
        },
        by: HARNESS,
        status: 'in_progress',
      },
      { data: { passed: true, checks: ['outputSchema'] }, by: HARNESS, status: 'in_progress' },
    ]);
  });

  it('whose command fails is told its output and exit code, and goes on in the same attempt', async () => {
    await using folder = await folderWith({ 'it is.txt': 'begun\n' });
    const answers: unknown[] = [];
    const statement = { kind: 'statement', acceptanceId: 'polite', text: 'it says done' };
    const { task, events } = await runJob(
      async (request, call) => {
        if (call === 1) return submits(request, 1);
        answers.push(answerTo(request));
        await writeFile(join(folder.path, 'it is.txt'), 'done\n');
        return submits(request, 2, { evidence: [statement] });
      },
      { tasks: [FILED] },
      folder.path,
    );
    expect(answers).toEqual([
      expect.objectContaining({
        code: 'check_failed',
        next: 'board_submit',
        check: 'says-done',
        asked: 'the file says done',
        command: "cat 'it is.txt'; grep -qx done 'it is.txt'",
        exitCode: 1,
        output: 'begun\n',
      }),
    ]);
    expect(task).toMatchObject({
      status: 'completed',
      attempt: 1,
      failures: 0,
      evidence: [statement, { kind: 'check', acceptanceId: 'says-done', passed: true, text: 'done\n' }],
    });
    expect(checkEvents(events).map(({ data }) => data)).toEqual([
      { passed: false, check: 'says-done', reason: 'exit code 1' },
      { passed: true, checks: ['says-done'] },
    ]);
  });

  it('that never passes fails as check with the output of its check, after all attempts', async () => {
    await using folder = await folderWith({ 'it is.txt': 'never\n' });
    const openings: string[] = [];
    const { job, task, attempts } = await runJob(
      (request) => {
        if (repliesIn(request) > 0) return givesUp(request, 2);
        openings.push(JSON.stringify(request.messages[0]));
        return submits(request, 1);
      },
      { tasks: [{ ...FILED, maxAttempts: 2 }] },
      folder.path,
    );
    expect(job.status).toBe('failed');
    const reason = 'it can not be done\ncheck "says-done" failed: exit code 1\nnever\n';
    expect(task).toMatchObject({ status: 'failed', failures: 2, failure: { class: 'check', reason } });
    expect(task?.result).toBeUndefined();
    expect(attempts.map(({ outcome, class: failure }) => [outcome, failure])).toEqual([
      ['failed', 'check'],
      ['failed', 'check'],
    ]);
    expect(openings[1]).toContain('exit code 1');
  });

  it('that was never made and is given up fails as model', async () => {
    const { task } = await runJob((request) => givesUp(request, 1), {
      tasks: [{ ...TYPED, maxAttempts: 1 }],
    });
    expect(task?.failure).toEqual({ class: 'model', reason: 'it can not be done' });
  });

  it.each([
    [
      'its turns are used up',
      { maxTurns: 2 },
      (request: MessagesRequest, call: number) => submits(request, call, { output: { words: `${call}` } }),
    ],
    [
      'it stops calling tools',
      {},
      (request: MessagesRequest, call: number) =>
        call === 1 ? submits(request, 1, { output: 'none' }) : reply([text('I am done.')]),
    ],
  ])('that did not pass before %s fails as check', async (_, limits, script) => {
    const { task } = await runJob(script, { tasks: [{ ...TYPED, maxAttempts: 1, limits }] });
    expect(task).toMatchObject({
      failures: 1,
      failure: { class: 'check', reason: expect.stringContaining('check "outputSchema" failed: output') },
    });
  });

  it('whose check takes longer than its own time is told so, with what it wrote until then', async () => {
    await using folder = await folderWith({});
    const answers: { detail?: string; output?: string }[] = [];
    const check = { run: 'echo begun; sleep 600', timeoutMs: 300 };
    const { task } = await runJob(
      (request, call) => {
        if (call === 1) return submits(request, 1);
        answers.push(answerTo(request));
        return givesUp(request, 2);
      },
      { tasks: [{ title: 'Slow', maxAttempts: 1, acceptance: [{ id: 'slow', text: 'ends', check }] }] },
      folder.path,
    );
    expect(answers[0]).toMatchObject({ detail: expect.stringContaining('300 ms'), output: 'begun\n' });
    expect(task?.failure?.class).toBe('check');
  });

  it('whose check outlives the time of the attempt ends that as timeout, and says which check ran', async () => {
    await using folder = await folderWith({});
    const acceptance = [
      { id: 'quick', text: 'ends at once', check: { run: 'true' } },
      { id: 'slow', text: 'ends', check: { run: 'sleep 600' } },
    ];
    const limits = { timeoutMs: 1000 };
    const { task } = await runJob(
      (request) => submits(request, 1),
      { tasks: [{ title: 'Slow', maxAttempts: 1, acceptance, limits }] },
      folder.path,
    );
    expect(task?.failure).toEqual({
      class: 'timeout',
      reason: 'the time limit of 1000 ms is over, while its check "slow" ran',
    });
  });

  it('whose time ends after its check has failed does not blame a check that no longer runs', async () => {
    await using folder = await folderWith({});
    const acceptance = [{ id: 'quick', text: 'holds', check: { run: 'false' } }];
    const { task } = await runJob(
      (request) =>
        repliesIn(request) === 0
          ? submits(request, 1)
          : reply([toolUse('run_command', { command: 'sleep 600' })]),
      {
        tools: ['run_command'],
        tasks: [{ title: 'Slow', maxAttempts: 1, acceptance, limits: { timeoutMs: 2000 } }],
      },
      folder.path,
    );
    expect(task?.failure).toEqual({ class: 'timeout', reason: 'the time limit of 2000 ms is over' });
  });

  it('whose check can not be run has not failed: the attempt ends as infra and the next one checks again', async () => {
    await using parent = await folderWith({ 'work/it is.txt': 'done\n' });
    const folder = join(parent.path, 'work');
    const away = join(parent.path, 'away');
    await using api = await startScriptedApi(async (request) => {
      await rename(folder, away);
      return submits(request, 1);
    });
    await using stack = await openScriptedStack(api, {
      workspaces: [parent.path],
      variables: { CREWBOARD_COMMANDS: 'host' },
    });
    const { id } = await stack.local.client.jobs.submit({ tasks: [FILED], workspace: { path: folder } });
    for await (const event of stack.local.client.jobs.events(id)) {
      if (event.type === 'task.failed' && existsSync(away)) await rename(away, folder);
    }
    const { tasks, job } = await stack.read(id);
    expect(job.status).toBe('succeeded');
    expect(tasks[0]).toMatchObject({ status: 'completed', failures: 0 });
    expect((tasks[0]?.attempt ?? 0) > 1).toBe(true);
    const attempts = await stack.boards.attempts(id, tasks[0]?.id ?? '', 1);
    expect(attempts[0]).toMatchObject({ outcome: 'failed', class: 'infra' });
    expect(attempts[0]?.reason).toContain('check "says-done" could not be run');
    // The submission stood in the journal: the model was not asked for it again.
    expect(api.requests).toHaveLength(1);
  });

  it('during whose check the task is edited is refused with what changed, and the next one counts', async () => {
    await using folder = await folderWith({});
    const at = (name: string) => join(folder.path, name);
    const answers: { code?: string; changedSince?: { field: string }[] }[] = [];
    await using api = await startScriptedApi((request, call) => {
      if (call > 1) answers.push(answerTo(request));
      return submits(request, call);
    });
    await using stack = await openScriptedStack(api, {
      workspaces: [folder.path],
      variables: { CREWBOARD_COMMANDS: 'host' },
    });
    const run = 'touch begun; until [ -e go ]; do sleep 0.05; done';
    const { id } = await stack.local.client.jobs.submit({
      workspace: { path: folder.path },
      tasks: [{ title: 'One', acceptance: [{ id: 'c', text: 'goes', check: { run } }] }],
    });
    await expect.poll(() => existsSync(at('begun')), { timeout: 20_000 }).toBe(true);
    const [task] = (await stack.local.client.tasks.list(id)).tasks;
    const { tasks } = stack.local.client;
    await tasks.edit(id, task?.id ?? '', { version: task?.version ?? 0, instructions: 'another way' });
    await writeFile(at('go'), '');
    await expect.poll(async () => (await stack.read(id)).job.status, { timeout: 20_000 }).toBe('succeeded');
    expect(answers).toEqual([
      expect.objectContaining({
        code: 'stale_version',
        changedSince: [expect.objectContaining({ field: 'instructions' })],
      }),
    ]);
    expect((await stack.read(id)).tasks[0]).toMatchObject({
      status: 'completed',
      attempt: 1,
      result: { summary: 'version 2' },
    });
  });

  it('ends with the cancel of its task, together with the command of its check', async () => {
    await using folder = await folderWith({});
    const run = 'echo $$ > pid; sleep 600';
    await using api = await startScriptedApi((request) => submits(request, 1));
    await using stack = await openScriptedStack(api, {
      workspaces: [folder.path],
      variables: { CREWBOARD_COMMANDS: 'host' },
    });
    const { client } = stack.local;
    const { id } = await client.jobs.submit({
      workspace: { path: folder.path },
      tasks: [{ title: 'One', acceptance: [{ id: 'c', text: 'ends', check: { run } }] }],
    });
    const pidOf = () => readFile(join(folder.path, 'pid'), 'utf8').catch(() => '');
    await expect.poll(pidOf, { timeout: 20_000 }).toMatch(/\d+\n/);
    const pid = Number(await pidOf());
    await client.jobs.cancel(id);
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 20_000 }).toBe(false);
    await expect.poll(async () => (await client.jobs.get(id)).status).toBe('cancelled');
    expect(checkEvents(await stack.boards.events(id, '0-0', 1000))).toEqual([]);
  });
});

describe('the policy decides what a submission has to show:', () => {
  const acceptance = [{ id: 'typed', text: 'it has words', check: { schema: { type: 'integer' } } }];
  const evidence = [{ acceptanceId: 'typed', kind: 'statement', text: 'I counted' }];

  it.each([
    ['none', ['completed']],
    ['evidence', ['evidence_required', 'completed']],
    ['checked', ['check_failed', 'completed']],
    ['approved', ['check_failed', 'in_review']],
  ] as const)('%s', async (policy, expected) => {
    const seen: string[] = [];
    await using api = await startScriptedApi((request, call) => {
      if (call > 1) seen.push(answerTo(request).code);
      return submits(request, call, call === 1 ? { output: 'x' } : { output: 1, evidence });
    });
    await using stack = await openScriptedStack(api);
    const { id } = await stack.local.client.jobs.submit({ tasks: [{ title: 'One', policy, acceptance }] });
    const status = async () => (await stack.local.client.tasks.list(id)).tasks[0]?.status;
    await expect.poll(status, { timeout: 20_000 }).toBe(expected.at(-1));
    expect([...seen, await status()]).toEqual(expected);
    const { tasks } = await stack.read(id);
    const checked = tasks[0]?.evidence?.filter(({ kind }) => kind === 'check') ?? [];
    expect(checked).toHaveLength(policy === 'checked' || policy === 'approved' ? 1 : 0);
  });
});

it('evidence shows to whoever reads the task, and to agents that ask for it', async () => {
  const shown: { task?: { evidence?: unknown } }[] = [];
  const { task, tasks } = await runJob(
    (request, call) => {
      if (call === 1) return submits(request, 1, { output: { words: 1 } });
      if (call > 2) shown.push(answerTo(request));
      const id = /"dependencies":.*?(t_\w{8})|"task":"(t_\w{8})"/.exec(
        JSON.stringify(request.messages).replaceAll('\\', ''),
      );
      const taskId = id?.[1] ?? id?.[2] ?? '';
      if (call === 2) return reply([toolUse('board_get', { taskId, include: ['evidence'] })]);
      return submits(request, call);
    },
    {
      tasks: [
        { ...TYPED, key: 'a' },
        { title: 'After', dependsOn: ['a'] },
      ],
    },
  );
  const evidence = [{ kind: 'check', passed: true }];
  expect(task?.evidence).toEqual(evidence);
  expect(shown[0]?.task?.evidence).toEqual(evidence);
  expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
});
