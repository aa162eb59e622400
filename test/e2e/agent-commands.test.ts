import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentBlock, JobBody } from '@crewboard/contracts';
import { describe, expect, it, vi } from 'vitest';
import { folderWith, openScriptedStack, ownTask, repliesIn } from '../regression/support.ts';
import {
  lastResults,
  type MessagesRequest,
  offersTool,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { HAS_BUBBLEWRAP } from '../tools/commands/support.ts';

const MODE = HAS_BUBBLEWRAP ? 'sandbox' : 'host';

/** Runs a job of one task whose agent makes `calls`, one a turn, and then submits; answers what it was answered. */
async function runCalls(
  calls: ContentBlock[],
  tools: JobBody['tools'],
  files: Record<string, string> = { 'a.txt': 'one\ntwo\n' },
) {
  await using folder = await folderWith(files);
  await using api = await startScriptedApi((request) => {
    const call = calls[repliesIn(request)];
    return reply([call ?? toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
  });
  await using stack = await openScriptedStack(api, {
    workspaces: [folder.path],
    variables: { CREWBOARD_COMMANDS: MODE },
  });
  const outcome = await stack.run({
    tasks: [{ title: 'Change it' }],
    workspace: { path: folder.path },
    tools,
  });
  const results = api.requests.flatMap(({ body }) => lastResults(body));
  return {
    ...outcome,
    offered: (name: string) => api.requests.every(({ body }) => offersTool(body, name)),
    results: calls.map(({ id }) => results.find((result) => result.id === id)),
    content: await readFile(join(folder.path, 'a.txt'), 'utf8').catch(() => undefined),
    dump: `${await stack.local.dump()}${stack.local.logged()}${JSON.stringify(api.requests)}`,
  };
}

describe('an agent that may write and run commands', () => {
  it('writes, edits and runs, and each is journalled before it starts', async () => {
    const run = await runCalls(
      [
        toolUse('write_file', { path: 'sub/b.txt', content: 'b\n' }),
        toolUse('edit_file', { path: 'a.txt', find: 'two', replace: '2' }),
        toolUse('run_command', { command: 'cat a.txt sub/b.txt; exit 5' }),
      ],
      ['read_file', 'write_file', 'edit_file', 'run_command'],
    );
    expect(run.job.status).toBe('succeeded');
    expect(run.content).toBe('one\n2\n');
    expect(run.results.map((result) => [result?.isError, result?.text])).toEqual([
      [false, 'sub/b.txt written · 2 bytes · a new file'],
      [false, 'a.txt edited at line 2 · 6 bytes now'],
      [true, expect.stringMatching(/^exit code 5 after \d+\.\d s\none\n2\nb\n$/)],
    ]);
    const kinds = [...run.journals.values()]
      .flat()
      .map((entry) => ('name' in entry ? entry.name : entry.kind));
    expect(kinds).toEqual([
      ...['message', 'reply', 'write_file', 'tool.result', 'reply', 'edit_file', 'tool.result'],
      ...['reply', 'run_command', 'tool.result', 'reply', 'board_submit'],
    ]);
  });

  it('gets only what the job names', async () => {
    const run = await runCalls([], ['read_file', 'edit_file']);
    expect(['read_file', 'edit_file', 'write_file', 'run_command'].map(run.offered)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const plain = await runCalls([], undefined);
    expect(['search_files', 'write_file', 'run_command'].map(plain.offered)).toEqual([true, false, false]);
  });

  it('is told of a command that ran out of time, and goes on', async () => {
    const run = await runCalls(
      [toolUse('run_command', { command: 'echo begun; sleep 100', timeoutMs: 300 })],
      ['run_command'],
    );
    expect(run.results[0]?.text).toMatch(/^timed out and was stopped after 0\.\d s\nbegun\n$/);
    expect(run.job.status).toBe('succeeded');
  });

  it('is answered the whole, bounded, cleaned output of a command that writes anything', async () => {
    const command = `printf 'a\\0b\\377c'; head -c 2000000 /dev/zero | tr '\\0' x; printf '\\nlast'`;
    const run = await runCalls([toolUse('run_command', { command })], ['run_command']);
    expect(run.results[0]?.text).toMatch(/^exit code 0 .*middle of its output is left out\na\ufffdb\ufffdcx/);
    expect(run.results[0]?.text).toMatch(/x\n\[1,9\d\d,\d\d\d bytes of output left out here\]\nx+\nlast$/);
  });

  it.skipIf(!HAS_BUBBLEWRAP)('meets no secret of the process, and leaves none anywhere', async () => {
    vi.stubEnv('CREWBOARD_CANARY', 'canary-2718281828');
    const look = 'env; cat /proc/*/environ .env 2>/dev/null; cat .env; cat $HOME/.npmrc';
    const run = await runCalls([toolUse('run_command', { command: look })], ['run_command'], {
      'a.txt': 'a',
      '.env': 'KEY=canary-2718281828',
    });
    vi.unstubAllEnvs();
    expect(run.results[0]?.text).toContain('PATH=');
    expect(run.dump).not.toContain('canary-2718281828');
  });
});

describe('a lead', () => {
  const plan = {
    ops: [{ op: 'add', key: 'c', title: 'C', executor: 'command', command: { run: 'echo ran' } }],
  };

  /** A lead that plans `plan`, waits, and finishes. */
  async function runLead(tools: JobBody['tools']) {
    await using folder = await folderWith({ 'a.txt': 'a' });
    await using api = await startScriptedApi((request: MessagesRequest) => {
      if (repliesIn(request) === 0) return reply([toolUse('board_plan', plan, 'plan')]);
      const results = lastResults(request);
      const isOver = results.some(({ id, isError, text }) =>
        id === 'plan' ? isError : /allSettled":true/.test(text),
      );
      return reply([isOver ? toolUse('finish_job', { summary: 'done' }) : toolUse('board_wait', {})]);
    });
    await using stack = await openScriptedStack(api, {
      workspaces: [folder.path],
      variables: { CREWBOARD_COMMANDS: MODE },
    });
    const outcome = await stack.run({ goal: 'Do it', workspace: { path: folder.path }, tools });
    const results = api.requests.flatMap(({ body }) => lastResults(body));
    return {
      ...outcome,
      answer: results.find(({ id }) => id === 'plan'),
      offers: (name: string) => api.requests.some(({ body }) => offersTool(body, name)),
    };
  }

  it('plans commands where the job’s tools name run_command, and gets no tool that writes itself', async () => {
    const run = await runLead(['read_file', 'write_file', 'run_command']);
    expect(run.tasks).toMatchObject([{ key: 'c', status: 'completed', result: { output: 'ran' } }]);
    expect([run.offers('read_file'), run.offers('write_file'), run.offers('run_command')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('may not plan what the job’s tools do not let agents do', async () => {
    const run = await runLead(['read_file']);
    expect(run.tasks).toEqual([]);
    expect(run.answer).toMatchObject({ isError: true });
    expect(JSON.parse(run.answer?.text ?? '')).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('do not include run_command'),
    });
  });
});
