import { describe, expect, it } from 'vitest';
import { OUTCOME_UNKNOWN, toMessages } from '../../packages/agent/src/index.ts';
import { CrewboardError, type JournalEntry } from '../../packages/contracts/src/index.ts';
import { type JournalBreak, memoryJournal } from '../support/memory-journal.ts';
import {
  lastResults,
  type MessagesRequest,
  redactedThinking,
  reply,
  type ScriptedApi,
  startScriptedApi,
  text,
  thinking,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const REPLIES = [
  reply([
    thinking('First I look.', 'sig-1'),
    text('I begin.'),
    toolUse('look', {}, 'look_1'),
    redactedThinking('opaque-1'),
    toolUse('change', {}, 'change_1'),
    toolUse('board', {}, 'board_1'),
  ]),
  reply([text('Is that all?')]),
  reply([toolUse('submit', {}, 'submit_1'), toolUse('look', {}, 'look_2')]),
  reply([toolUse('submit', {}, 'submit_2')]),
];

/** A model without memory: it goes by how many replies the conversation holds. */
function byConversation(request: MessagesRequest) {
  const replies = request.messages.filter((message) => message.role === 'assistant').length;
  return REPLIES[replies] ?? reply([]);
}

/** The tools of one story: the first submit finds a failing check, the second is accepted. */
function story(calls: ToolCallRecord[]) {
  const submit = recordingTool(calls, {
    name: 'submit',
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    answer: (_, { toolUseId }) =>
      toolUseId === 'submit_1'
        ? { content: 'the check failed', isError: true }
        : { content: 'accepted', end: { kind: 'done' } },
  });
  return [
    recordingTool(calls, { name: 'look' }),
    recordingTool(calls, { name: 'change', readOnly: false }),
    recordingTool(calls, { name: 'board', readOnly: false, idempotent: true }),
    submit,
  ];
}

async function runStory(
  api: ScriptedApi,
  calls: ToolCallRecord[],
  attempt: number,
  earlier: readonly JournalEntry[],
  broken?: JournalBreak,
) {
  const journal = memoryJournal(attempt, earlier, broken);
  return runOn(api, {
    attempt,
    journal,
    tools: story(calls),
    ...(attempt > 1 ? { continuation: ['You go on after a break.'] } : {}),
  });
}

function repliesIn(entries: readonly JournalEntry[]): number {
  return entries.filter((entry) => entry.kind === 'reply').length;
}

function resultIds(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : []));
}

async function wholeStory(): Promise<{ appends: number; entries: readonly JournalEntry[] }> {
  await using api = await startScriptedApi(byConversation);
  const { outcome, journal } = await runStory(api, [], 1, []);
  expect(outcome).toMatchObject({ kind: 'done', turns: 4 });
  return { appends: journal.appends, entries: journal.entries };
}

describe('an attempt that breaks off at any point', () => {
  it('is gone on with from the journal: no journalled call and no finished tool is repeated', async () => {
    const { appends } = await wholeStory();
    expect(appends).toBeGreaterThan(10);
    for (let atAppend = 1; atAppend <= appends; atAppend++) {
      for (const stored of [true, false]) {
        await breakAndGoOn(atAppend, stored);
      }
    }
  });
});

async function breakAndGoOn(atAppend: number, stored: boolean): Promise<void> {
  const where = `append ${atAppend}, ${stored ? 'stored' : 'lost'}`;
  await using api = await startScriptedApi(byConversation);
  const calls: ToolCallRecord[] = [];
  const error = new CrewboardError('unavailable', 'killed');
  const first = await runStory(api, calls, 1, [], { atAppend, stored, error });
  expect(first.outcome, where).toMatchObject({ kind: 'aborted', reason: error });
  const before = first.journal.entries;
  const asked = api.requests.length;
  const ran = calls.length;

  const second = await runStory(api, calls, 2, before);
  expect(second.outcome, where).toMatchObject({ kind: 'done' });
  expect(api.requests.length - asked, where).toBe(REPLIES.length - repliesIn(before));
  const finished = resultIds(before);
  const again = calls.slice(ran).map(({ requestId }) => requestId.split('/')[1] ?? '');
  expect(
    again.filter((id) => finished.includes(id)),
    where,
  ).toEqual([]);
  expect(calls.filter(({ name }) => name === 'change').length, where).toBeLessThanOrEqual(1);
  const boardIds = calls.filter(({ name }) => name === 'board').map(({ requestId }) => requestId);
  expect(new Set(boardIds).size, where).toBe(1);
  expect(new Set(resultIds(second.journal.entries)).size, where).toBe(
    resultIds(second.journal.entries).length,
  );
  expect(api.violations, where).toEqual([]);
}

describe('going on', () => {
  it('answers both calls of a killed worker, results first, without running the first again (case 1)', async () => {
    const calls: ToolCallRecord[] = [];
    await using api = await startScriptedApi([
      reply([toolUse('t1', {}, 'c1'), toolUse('t2', {}, 'c2'), toolUse('t3', {}, 'c3')]),
      reply([toolUse('submit')]),
    ]);
    const tools = [
      recordingTool(calls, { name: 't1', readOnly: false }),
      recordingTool(calls, { name: 't2', readOnly: false }),
      recordingTool(calls, { name: 't3' }),
      submitTool(),
    ];
    const error = new CrewboardError('lease_lost', 'killed');
    // Entries: opening, reply, t1 started, t1 result, t2 started: killed while t2 runs.
    const journal = memoryJournal(1, [], { atAppend: 6, stored: false, error });
    const limits = { ...LIMITS, parallelTools: 1 };
    const killed = await runOn(api, { tools, journal, limits });
    expect(killed.outcome.kind).toBe('aborted');
    calls.length = 0;
    const { outcome } = await runOn(api, {
      tools,
      attempt: 2,
      journal: memoryJournal(2, journal.entries),
      continuation: ['You go on after a break.'],
    });
    expect(outcome.kind).toBe('done');
    expect(calls.map(({ name }) => name)).toEqual(['t3']);
    const last = api.requests[1]?.body.messages.at(-1)?.content;
    expect(last).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1', content: 't1 ran' },
      { type: 'tool_result', tool_use_id: 'c2', content: OUTCOME_UNKNOWN, is_error: true },
      { type: 'tool_result', tool_use_id: 'c3', content: 't3 ran' },
      { type: 'text', text: 'You go on after a break.' },
    ]);
  });

  it('answers the call that parked the last attempt with the news, and does not run it again', async () => {
    const calls: ToolCallRecord[] = [];
    await using api = await startScriptedApi([
      reply([toolUse('submit', {}, 'wait_1')]),
      reply([toolUse('submit', {}, 'wait_2')]),
    ]);
    const parking = submitTool(calls, { content: '', end: { kind: 'parked', reason: 'news' } });
    const first = await runOn(api, { tools: [parking] });
    const journal = memoryJournal(2, first.journal.entries);
    const woken = { attempt: 2, endedCallAnswer: 'task 3 failed', tools: [parking] };
    await runOn(api, { ...woken, journal });
    expect(calls.map(({ requestId }) => requestId)).toEqual(['1/wait_1', '4/wait_2']);
    expect(lastResults(api.requests[1]?.body ?? missing())).toEqual([
      { id: 'wait_1', isError: false, text: 'task 3 failed' },
    ]);
  });

  it('gives the news as a message where the last turn was plain text', async () => {
    await using api = await startScriptedApi([reply([text('I wait.')]), reply([toolUse('submit')])]);
    const plainEnding = async () => ({ kind: 'parked', reason: 'news' }) as const;
    const first = await runOn(api, { plainEnding });
    const { outcome } = await runOn(api, {
      attempt: 2,
      journal: memoryJournal(2, first.journal.entries),
      endedCallAnswer: 'task 3 failed',
      plainEnding,
    });
    expect(outcome.kind).toBe('done');
    expect(api.requests[1]?.body.messages.at(-1)?.content).toMatchObject([{ text: 'task 3 failed' }]);
  });

  it('begins anew when told to, and keeps what was before as history only', async () => {
    const { entries } = await wholeStory();
    await using api = await startScriptedApi([reply([toolUse('submit')])]);
    const { journal, outcome } = await runOn(api, {
      attempt: 2,
      fresh: true,
      journal: memoryJournal(2, entries),
      opening: ['Do the task.', 'The first attempt failed: no output.'],
    });
    expect(outcome).toMatchObject({ kind: 'done', turns: 1, usage: { modelCalls: 1 } });
    expect(journal.entries.slice(0, entries.length)).toEqual(entries);
    expect(api.requests[0]?.body.messages).toMatchObject([
      { role: 'user', content: [{ text: 'Do the task.' }, { text: 'The first attempt failed: no output.' }] },
    ]);
  });

  it('in the same attempt says nothing twice', async () => {
    await using api = await startScriptedApi([reply([toolUse('submit')])]);
    const { entries } = await wholeStory();
    const cut = entries.slice(
      0,
      entries.findIndex((entry) => entry.kind === 'reply'),
    );
    const journal = memoryJournal(1, cut);
    await runOn(api, { journal, tools: story([]), continuation: ['Once only.'] });
    expect(toMessages(journal.entries)[0]?.content).toEqual([{ type: 'text', text: 'Do the task.' }]);
  });
});

function missing(): never {
  throw new Error('the request is missing');
}
