import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentOptions, WorkState } from '../../packages/agent/src/index.ts';
import { projectTodos, unfinishedWork } from '../../packages/checklist/src/index.ts';
import { CrewboardError, type JournalEntry } from '../../packages/contracts/src/index.ts';
import { type MemoryJournal, memoryJournal } from '../support/memory-journal.ts';
import {
  allText,
  httpError,
  type MessagesRequest,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

const TOO_LONG = () =>
  httpError(400, 'invalid_request_error', {}, 'prompt is too long: 201000 tokens > 200000 maximum');
const isSummaryCall = (request: MessagesRequest) =>
  JSON.stringify(request.messages.at(-1)).includes('will be replaced by your summary');
const hasCompacted = (request: MessagesRequest) => allText(request).includes('were left out to make room');
const STATE: WorkState = {
  heldTask: '<task>\n{"taskId":"t_22222222"}\n</task>',
  unfinishedTodos: ['[>] Read the rest', '[ ] Tell'],
  openTasks: ['#3 t_33333333 "Build on it"'],
};

/** A model that looks so many times, reports about what it was sent, and gives a summary when asked. */
function lookingModel(looks: number, summary: () => ScriptedReply, tokens?: number) {
  let looked = 0;
  return (request: MessagesRequest) => {
    if (isSummaryCall(request)) return summary();
    if (looked >= looks) return reply([toolUse('submit')]);
    looked++;
    const input_tokens = tokens ?? Math.ceil(JSON.stringify(request.messages).length / 3);
    return reply([toolUse('look', { n: looked }, `look_${looked}`)], { usage: { input_tokens } });
  };
}

const goodSummary = () => reply([text('## Goal\nDo the task.')], { usage: { input_tokens: 77 } });

function look(chars = 1200) {
  return recordingTool([], { name: 'look', answer: () => ({ content: 'x'.repeat(chars) }) });
}

function options(change: Partial<Omit<AgentOptions, 'journal'>> = {}) {
  return {
    tools: [look(), submitTool()],
    contextWindow: 4000,
    workState: async () => STATE,
    limits: { ...LIMITS, maxResultChars: 10_000 },
    ...change,
  };
}

const doneNotes = (entries: readonly JournalEntry[]) =>
  entries.filter((entry) => entry.kind === 'note' && entry.name === 'compaction/done');

describe('compaction', () => {
  it('replaces the oldest turns by a summary and the state once the window fills, and keeps pairs whole', async () => {
    await using api = await startScriptedApi(lookingModel(8, goodSummary));
    const { outcome, journal, events } = await runOn(api, options());
    expect(outcome).toMatchObject({ kind: 'done', turns: 9, usage: { modelCalls: 10 } });
    expect(events.filter(({ type }) => type === 'compacted')).toEqual([
      { type: 'compacted', summarised: true },
    ]);
    expect(doneNotes(journal.entries)).toHaveLength(1);
    const after = api.requests.find(({ body }) => hasCompacted(body))?.body ?? missing();
    const all = allText(after);
    expect(all.startsWith('Do the task.\nEarlier turns')).toBe(true);
    for (const part of [
      '## Goal\nDo the task.',
      STATE.heldTask ?? '',
      ...STATE.unfinishedTodos,
      ...STATE.openTasks,
    ])
      expect(all).toContain(part);
    expect(after.messages.length).toBeLessThan(12);
  });

  it('asks for the summary under fixed headings, over the same tools and system', async () => {
    await using api = await startScriptedApi(lookingModel(8, goodSummary));
    await runOn(api, options());
    const { body } = api.requests.find((request) => isSummaryCall(request.body)) ?? missing();
    for (const heading of ['Goal', 'Decisions', 'Current Work', 'Pending Jobs', 'Files', 'Next Step'])
      expect(allText(body)).toContain(`## ${heading}`);
    expect([body.tools, body.system]).toEqual([api.requests[0]?.body.tools, api.requests[0]?.body.system]);
  });

  it('goes once more after a refused call, without a summary when that is refused too', async () => {
    let refused = 0;
    await using api = await startScriptedApi((request, call) => {
      if (isSummaryCall(request)) return TOO_LONG();
      if (call <= 4) return reply([toolUse('look', { call })]);
      if (!hasCompacted(request) && ++refused > 0) return TOO_LONG();
      return reply([toolUse('submit')]);
    });
    const { outcome, events } = await runOn(api, options({ contextWindow: 100_000 }));
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(refused).toBe(1);
    expect(events.filter(({ type }) => type === 'compacted')).toEqual([
      { type: 'compacted', summarised: false },
    ]);
    const last = allText(api.requests.at(-1)?.body ?? missing());
    for (const part of [STATE.heldTask ?? '', ...STATE.unfinishedTodos, ...STATE.openTasks])
      expect(last).toContain(part);
  });

  it('ends the attempt as context when the compacted call is refused again', async () => {
    await using api = await startScriptedApi((request, call) => {
      if (isSummaryCall(request)) return goodSummary();
      return call <= 4 ? reply([toolUse('look', { call })]) : TOO_LONG();
    });
    const { outcome } = await runOn(api, options({ contextWindow: 100_000 }));
    expect(outcome).toMatchObject({ kind: 'context' });
    expect(api.requests.filter(({ body }) => isSummaryCall(body))).toHaveLength(1);
  });

  it('makes room as well when the reply stops for its window, and asks again', async () => {
    let stopped = false;
    await using api = await startScriptedApi((request, call) => {
      if (isSummaryCall(request)) return goodSummary();
      if (call <= 4) return reply([toolUse('look', { call })]);
      if (stopped) return reply([toolUse('submit')]);
      stopped = true;
      return reply([text('cut')], { stopReason: 'model_context_window_exceeded' });
    });
    const { outcome } = await runOn(api, options({ contextWindow: 100_000 }));
    expect(outcome).toMatchObject({ kind: 'done', turns: 6 });
  });

  it('is done as often as the window fills', async () => {
    await using api = await startScriptedApi(lookingModel(60, goodSummary));
    const { outcome, journal } = await runOn(
      api,
      options({ limits: { ...LIMITS, maxTurns: 70, maxResultChars: 10_000 } }),
    );
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(doneNotes(journal.entries).length).toBeGreaterThan(3);
  });

  it('is not done again for a window that is full all the same', async () => {
    await using api = await startScriptedApi(lookingModel(40, goodSummary, 100_000));
    const { journal } = await runOn(
      api,
      options({ limits: { ...LIMITS, maxTurns: 40, maxResultChars: 10_000 } }),
    );
    expect(doneNotes(journal.entries)).toHaveLength(1);
  });

  it('is done at most three times a conversation for refused calls', async () => {
    let calls = 0;
    await using api = await startScriptedApi((request) => {
      if (isSummaryCall(request)) return goodSummary();
      calls++;
      // Every third call does not fit, until room was made for it.
      return calls % 3 === 0 ? TOO_LONG() : reply([toolUse('look', { calls })]);
    });
    const { outcome, journal } = await runOn(
      api,
      options({ contextWindow: 100_000, limits: { ...LIMITS, maxTurns: 40 } }),
    );
    expect(outcome).toMatchObject({ kind: 'context' });
    expect(doneNotes(journal.entries)).toHaveLength(3);
  });

  it('is exact over a crash at each of its writes: the summary is not asked for again once it is journalled', async () => {
    const run = async (journal: MemoryJournal, api: { url: string }) =>
      runOn(api, { ...options(), attempt: journal.entries.length > 0 ? 2 : 1, journal });
    await using plain = await startScriptedApi(lookingModel(8, goodSummary));
    const whole = await run(memoryJournal(1), plain);
    const at = whole.journal.entries.findIndex((entry) => entry.kind === 'note') + 1;
    for (let atAppend = at; atAppend <= at + 3; atAppend++) {
      for (const stored of [true, false]) {
        const error = new CrewboardError('unavailable', 'killed');
        const broken = memoryJournal(1, [], { atAppend, stored, error });
        await using api = await startScriptedApi(lookingModel(8, goodSummary));
        await run(broken, api);
        const had = broken.entries.filter((entry) => entry.kind === 'reply').length;
        const asked = api.requests.length;
        const next = memoryJournal(2, broken.entries);
        const { outcome } = await run(next, api);
        expect(outcome.kind).toBe('done');
        const replies = next.entries.filter((entry) => entry.kind === 'reply').length;
        expect(api.requests.length - asked, `append ${atAppend}, ${stored}`).toBe(replies - had);
        expect(doneNotes(next.entries)).toHaveLength(1);
      }
    }
  });

  it('that a failed attempt had only begun is history to the next, which starts afresh', async () => {
    const journal = memoryJournal(1);
    await journal.append({ kind: 'message', texts: ['old'] });
    await journal.append({ kind: 'note', name: 'compaction/asked', data: { keepFrom: 1 } });
    await using api = await startScriptedApi([reply([toolUse('submit')])]);
    const { outcome } = await runOn(api, {
      ...options(),
      attempt: 2,
      fresh: true,
      journal: memoryJournal(2, journal.entries),
    });
    expect(outcome).toMatchObject({ kind: 'done', turns: 1 });
  });

  it('leaves the checklist panel as it is [row 122]', async () => {
    const journal = memoryJournal(1);
    const todos = [{ content: 'Read', status: 'pending' as const }];
    await journal.append({ kind: 'note', name: 'todo/write', data: { todos } });
    await using api = await startScriptedApi(lookingModel(8, goodSummary));
    await runOn(api, { ...options(), journal });
    expect(doneNotes(journal.entries)).toHaveLength(1);
    expect(projectTodos(journal.entries)).toEqual(todos);
  });
});

const line = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }).filter((s) => s.trim() !== '');
const clean = (value: string) => value.toWellFormed().replaceAll('\u0000', '\ufffd');
const summaries = [
  () => reply([]),
  () => reply([text('  ')]),
  () => reply([text('I will not.')], { stopReason: 'refusal' }),
  () => reply([toolUse('look', { instead: true })]),
  TOO_LONG,
  goodSummary,
];

const todo = fc.record({ content: line, status: fc.constantFrom('pending', 'in_progress', 'completed') });
const logEntry = fc.oneof(
  fc.array(todo).map((todos) => ({ name: 'todo/write', todos })),
  fc.record({ name: fc.constant('turn/start'), todos: fc.array(todo, { maxLength: 0 }) }),
);

describe('the unfinished work of any log', () => {
  it('is that of the last list written, however often people spoke since [rows 120, 123]', () => {
    fc.assert(
      fc.property(fc.array(logEntry), (log) => {
        const notes = log.map(({ name, todos }) => ({ kind: 'note' as const, name, data: { todos } }));
        const written = log.findLast(({ name }) => name === 'todo/write')?.todos ?? [];
        const open = written.filter(({ status }) => status !== 'completed');
        const lines = unfinishedWork(notes);
        expect(lines.map((item) => item.slice(4))).toEqual(open.map(({ content }) => content));
        if (log.at(-1)?.name === 'turn/start') expect(projectTodos(notes)).toBeNull();
      }),
    );
  });
});

describe('messages of people', () => {
  it('are kept whole, the newest first, up to a bound', async () => {
    const messages = Array.from({ length: 40 }, (_, i) => `<message ${i}>${'m'.repeat(5000)}`);
    await using api = await startScriptedApi(lookingModel(8, goodSummary));
    await runOn(api, options({ workState: async () => ({ ...STATE, messages }) }));
    const all = allText(api.requests.find(({ body }) => hasCompacted(body))?.body ?? missing());
    const kept = messages.filter((message) => all.includes(message));
    expect(kept).toEqual(messages.slice(-12));
    expect(all).toContain('(28 older ones were left out)');
  });
});

describe('after any compaction', () => {
  it('the held task, each unfinished item, each open task and each message of a person stand verbatim in the next request [row 123]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          heldTask: line,
          unfinishedTodos: fc.array(line),
          openTasks: fc.array(line),
          messages: fc.array(line),
        }),
        fc.constantFrom(...summaries),
        fc.integer({ min: 1, max: 6000 }),
        async (state, summary, chars) => {
          const model = lookingModel(8, summary);
          await using api = await startScriptedApi((request, call) =>
            call === 5 ? TOO_LONG() : model(request),
          );
          await runOn(
            api,
            options({
              contextWindow: 100_000,
              tools: [look(chars), submitTool()],
              workState: async () => state,
            }),
          );
          const next = api.requests.find(({ body }) => hasCompacted(body))?.body ?? missing();
          const all = allText(next);
          const { heldTask, unfinishedTodos, openTasks, messages } = state;
          for (const item of [heldTask, ...unfinishedTodos, ...openTasks, ...messages])
            expect(all).toContain(clean(item));
          expect(api.violations).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function missing(): never {
  throw new Error('the request is missing');
}
