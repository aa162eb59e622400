import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { toMessages } from '../../packages/agent/src/index.ts';
import {
  type AttemptEnd,
  type JournalEntry,
  newJobId,
  Recording,
  recordConversation,
  redactEntry,
  transcriptPage,
} from '../../packages/contracts/src/index.ts';
import { sendJson, serveLoopback } from '../../packages/simulated-model/src/index.ts';
import { recordedTerminal } from '../cli/support/terminal.ts';
import { folderWith, openScriptedStack, ownTask, repliesIn } from '../regression/support.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { replayed, replayedTools } from '../support/replay.ts';
import {
  allText,
  httpError,
  reply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

const TASK = 't_22222222';

async function conversation(): Promise<readonly JournalEntry[]> {
  await using api = await startScriptedApi([
    reply([text('I look.'), toolUse('look', { at: 'a' }, 'c1')], { usage: { input_tokens: 7 } }),
    reply([toolUse('break', {}, 'c2'), toolUse('look', { at: 'b' }, 'c3')]),
    reply([text('cut')], { stopReason: 'max_tokens' }),
    reply([toolUse('submit', {}, 'c4')]),
  ]);
  const tools = [
    recordingTool([], { name: 'look', answer: (input) => ({ content: JSON.stringify(input) }) }),
    recordingTool([], { name: 'break', answer: () => Promise.reject(new Error('broken')) }),
    submitTool(),
  ];
  return (await runOn(api, { tools })).journal.entries;
}

describe('a recorded conversation', () => {
  it('replays as a scripted model: the same replies, the same answers, the same end', async () => {
    const original = await conversation();
    const recording = Recording.parse(JSON.parse(JSON.stringify(recordConversation(TASK, original))));
    await using api = await startScriptedApi(replayed(recording));
    const { outcome, journal } = await runOn(api, { tools: replayedTools(recording) });
    expect(outcome).toMatchObject({ kind: 'done', turns: 4 });
    expect(toMessages(journal.entries)).toEqual(toMessages(original));
    expect(outcome.usage).toMatchObject({ modelCalls: 4, inputTokens: 7 + 3 * 100 });
  });

  it.each([
    ['a call that only looks', true, undefined],
    ['a failing call that only looks', true, 'not there'],
    ['a call that changes something', false, undefined],
  ])('ends by the loop guard where the original did: %s', async (_, readOnly, failure) => {
    let turn = 0;
    await using api = await startScriptedApi(() =>
      reply([toolUse('look', { at: 'a' }), toolUse('other', { n: turn++ })]),
    );
    const answer = failure === undefined ? { content: 'seen' } : { content: failure, isError: true };
    const tools = [
      recordingTool([], { name: 'look', readOnly, answer }),
      recordingTool([], { name: 'other' }),
      submitTool(),
    ];
    const original = await runOn(api, { tools });
    expect(original.outcome).toMatchObject({ kind: 'failed', class: 'model' });
    const recording = recordConversation(TASK, original.journal.entries);
    await using again = await startScriptedApi(replayed(recording));
    const { outcome, journal } = await runOn(again, { tools: replayedTools(recording) });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: turn });
    expect(toMessages(journal.entries)).toEqual(toMessages(original.journal.entries));
  });

  it('knows which tools only kept books: a loop goes on over their calls', async () => {
    const notes = recordingTool([], { name: 'board_note', readOnly: false, bookkeeping: true });
    const books = recordingTool([], { name: 'diary', readOnly: false, bookkeeping: true });
    for (const [tool, options] of [
      [notes, {}],
      [books, { bookkeeping: ['diary'] }],
    ] as const) {
      let turn = 0;
      await using api = await startScriptedApi(() =>
        reply([toolUse('look', { at: 'a' }), toolUse(tool.name, { n: turn++ })]),
      );
      const tools = [recordingTool([], { name: 'look' }), tool, submitTool()];
      const original = await runOn(api, { tools });
      expect(original.outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 6 });
      const recording = Recording.parse(recordConversation(TASK, original.journal.entries, options));
      expect(recording.bookkeepingTools).toEqual([tool.name]);
      await using again = await startScriptedApi(replayed(recording));
      const { outcome, journal } = await runOn(again, { tools: replayedTools(recording) });
      expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 6 });
      expect(toMessages(journal.entries)).toEqual(toMessages(original.journal.entries));
    }
  });

  it.each<AttemptEnd>([
    { kind: 'done' },
    { kind: 'parked', reason: 'waits' },
    { kind: 'failed', class: 'model', reason: 'it can not be done' },
  ])('ends as its last call did when it is told how: $kind', async (end) => {
    await using api = await startScriptedApi([reply([toolUse('stop')])]);
    const stop = recordingTool([], { name: 'stop', endsAttempt: true, answer: { content: '', end } });
    const original = await runOn(api, { tools: [stop] });
    const recording = Recording.parse(recordConversation(TASK, original.journal.entries, { end }));
    await using again = await startScriptedApi(replayed(recording));
    expect((await runOn(again, { tools: replayedTools(recording) })).outcome).toEqual(original.outcome);
  });

  it('with an answer that was cut replays where as many characters are allowed', async () => {
    await using api = await startScriptedApi([reply([toolUse('look', {}, 'c')]), reply([toolUse('submit')])]);
    const look = recordingTool([], { name: 'look', answer: { content: 'x'.repeat(3000) } });
    const original = await runOn(api, { tools: [look, submitTool()] });
    const recording = recordConversation(TASK, original.journal.entries);
    const longest = Math.max(...recording.results.map(({ content }) => content.length));
    await using again = await startScriptedApi(replayed(recording));
    const limits = { ...LIMITS, maxResultChars: longest };
    const { journal } = await runOn(again, { tools: replayedTools(recording), limits });
    expect(toMessages(journal.entries)).toEqual(toMessages(original.journal.entries));
  });

  it('of an older form, which names no tools that keep books, is still read', () => {
    const { bookkeepingTools: _, readOnlyTools: __, ...older } = recordConversation(TASK, []);
    expect(Recording.parse(older)).toMatchObject({ bookkeepingTools: [], readOnlyTools: [] });
  });

  it.each([
    ['a full window', 1500],
    ['a refused call', 100_000],
  ])('that was compacted for %s gives the summary to the call that asks for it', async (_, contextWindow) => {
    let looks = 0;
    let refused = false;
    await using api = await startScriptedApi((request) => {
      const all = allText(request);
      if (all.includes('will be replaced by your summary')) return reply([text('## Goal\nDo it.')]);
      if (looks === 6 && contextWindow > 1500 && !refused) {
        refused = true;
        return httpError(400, 'invalid_request_error', {}, 'prompt is too long: 9 tokens > 8 maximum');
      }
      if (looks === 8) return reply([toolUse('submit')]);
      looks++;
      const input_tokens = Math.ceil(JSON.stringify(request.messages).length / 3);
      return reply([toolUse('look', { looks })], { usage: { input_tokens } });
    });
    const look = recordingTool([], { name: 'look', answer: { content: 'x'.repeat(500) } });
    const original = await runOn(api, { tools: [look, submitTool()], contextWindow });
    const recording = recordConversation(TASK, original.journal.entries);
    expect(recording.replies.filter(({ isSummary }) => isSummary === true).length).toBeGreaterThan(0);
    await using again = await startScriptedApi(replayed(recording));
    const { outcome, journal } = await runOn(again, { tools: replayedTools(recording), contextWindow });
    expect(outcome).toMatchObject({ kind: 'done', turns: 9 });
    expect(toMessages(journal.entries)).toEqual(toMessages(original.journal.entries));
  });

  it('of a task on a board runs again on another board, though IDs differ', async () => {
    await using api = await startScriptedApi((request) =>
      repliesIn(request) === 0
        ? reply([toolUse('board_list', {})])
        : reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done again' })]),
    );
    await using first = await openScriptedStack(api);
    const { tasks, journals } = await first.run({ tasks: [{ title: 'One' }] });
    const [task] = tasks;
    const recording = recordConversation(task?.id ?? '', journals.get(task?.id ?? '') ?? []);
    await using again = await startScriptedApi(replayed(recording));
    await using second = await openScriptedStack(again);
    const repeated = await second.run({ tasks: [{ title: 'One' }] });
    expect(repeated.tasks[0]).toMatchObject({ status: 'completed', result: { summary: 'done again' } });
    expect(repeated.tasks[0]?.id).not.toBe(task?.id);
  });

  it('holds what came since the last fresh start only', async () => {
    const journal = memoryJournal(2, await conversation());
    await journal.append({ kind: 'start', fresh: true });
    expect(recordConversation(TASK, journal.entries)).toMatchObject({ replies: [], results: [] });
  });
});

describe('a transcript', () => {
  it('comes in pages that add up to the journal', async () => {
    const journal = await conversation();
    const entries: JournalEntry[] = [];
    let cursor: string | undefined;
    do {
      const page = transcriptPage(TASK, journal, { cursor, limit: 3 });
      entries.push(...page.entries);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(entries).toEqual(journal);
  });

  it('comes in pages that are bounded, however long its entries are, and never empty', async () => {
    const journal = memoryJournal(1);
    for (let i = 0; i < 5; i++) await journal.append({ kind: 'message', texts: ['x'.repeat(1_500_000)] });
    await journal.append({ kind: 'message', texts: ['y'.repeat(5_000_000)] });
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = transcriptPage(TASK, journal.entries, { cursor });
      sizes.push(page.entries.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined && sizes.length < 10);
    expect(sizes).toEqual([2, 2, 1, 1]);
  });

  it('shows no keys, wherever they stand', async () => {
    const journal = memoryJournal(1);
    const key = 'sk-ant-0123456789abcdefghij';
    await journal.append({ kind: 'message', texts: [`use ${key} now`] });
    await journal.append({ kind: 'note', name: 'n', data: { deep: [{ header: `Bearer ${key}` }] } });
    await journal.append({ kind: 'note', name: 'n', data: { [key]: 1, [`${key}2`]: 2 } });
    await journal.append({ kind: 'tool.result', toolUseId: 'c', content: `KEY=${key}`, isError: false });
    const shown = JSON.stringify(journal.entries.map(redactEntry));
    expect(shown).not.toContain(key.slice(7));
    expect(shown).toContain('use [redacted] now');
    expect(shown).toContain('{"[redacted]":1,"[redacted] 2":2}');
  });

  it.each([
    'sk-learn_user_guide_part_two.md',
    'sk-learn-user-guide-part-2/index.html',
    'cb_Release-notes_for_v12_and_2024.txt',
  ])('leaves names that only begin like a key: %s', async (name) => {
    const journal = memoryJournal(1);
    await journal.append({ kind: 'message', texts: [`read ${name} first`] });
    expect(JSON.stringify(journal.entries.map(redactEntry))).toContain(`read ${name} first`);
  });

  it('shows no key of any random text', () => {
    const key = fc.string({
      unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'),
      minLength: 32,
      maxLength: 100,
    });
    const texts = fc.tuple(fc.constantFrom('sk-', 'sk-ant-api03-', 'cb_'), key);
    fc.assert(
      fc.property(texts, ([prefix, random]) => {
        // fast-check shrinks and biases to dull texts; keys hold digits and capitals.
        fc.pre(/\d/.test(random) && /[A-Z]{2}|[a-z][A-Z]|\d[A-Za-z]/.test(random));
        const value = `${prefix}${random}`;
        const entry = {
          v: 1,
          id: 'e',
          attempt: 1,
          kind: 'message' as const,
          texts: [`use ${value}. Then go`],
        };
        expect(JSON.stringify(redactEntry(entry))).not.toContain(value);
      }),
    );
  });

  it('is printed by `crewboard transcript`, and saved with --record, never over another file', async () => {
    const journal = await conversation();
    const jobId = newJobId();
    const asked: string[] = [];
    await using folder = await folderWith({});
    const server = await serveLoopback(async (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const paths = [`/v1/jobs/${jobId}/tasks/${TASK}/transcript`, `/v1/jobs/${jobId}/transcript`];
      if (!paths.includes(url.pathname)) throw new Error(url.pathname);
      asked.push(url.pathname);
      const cursor = url.searchParams.get('cursor') ?? undefined;
      sendJson(response, 200, transcriptPage(TASK, journal, { cursor, limit: 4 }));
    });
    try {
      const run = async (...more: string[]) => {
        const terminal = recordedTerminal();
        const args = ['transcript', jobId, '--url', server.url, '--key', 'none', ...more];
        return { code: await runCli(args, terminal, {}), terminal };
      };
      const printed = await run(TASK);
      const lines = printed.terminal.out().trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line))).toEqual(journal);
      const file = join(folder.path, 'failure.json');
      const saved = await run(TASK, '--record', file);
      expect([saved.code, saved.terminal.out()]).toEqual([0, '']);
      const recording = Recording.parse(JSON.parse(await readFile(file, 'utf8')));
      expect(recording).toEqual(recordConversation(TASK, journal));
      const refused = [
        [file, 'is there already and is not written over: name a new file'],
        [folder.path, 'is there already'],
        [join(folder.path, 'none', 'failure.json'), `the folder ${join(folder.path, 'none')} is not there`],
        [join(file, 'failure.json'), `${file} is no folder`],
        [join(folder.path, 'x'.repeat(300)), 'is too long'],
      ] as const;
      for (const [path, says] of refused) {
        const { code, terminal } = await run(TASK, '--record', path);
        expect([code, terminal.messages]).toEqual([2, [expect.stringContaining(says)]]);
        expect(terminal.messages.join()).not.toMatch(/EEXIST|ENOENT|ENOTDIR|ENAMETOOLONG/);
      }
      asked.length = 0;
      const ofLead = await run('--record', join(folder.path, 'lead.json'));
      expect([ofLead.code, new Set(asked)]).toEqual([0, new Set([`/v1/jobs/${jobId}/transcript`])]);
    } finally {
      await server.stop();
    }
  });
});
