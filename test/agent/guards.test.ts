import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../packages/agent/src/index.ts';
import type { JournalEntry, ToolAnswer } from '../../packages/contracts/src/index.ts';
import { recordingChecklist, todo } from '../checklist/support.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import {
  allText,
  lastResults,
  type MessagesRequest,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const submit = () => reply([toolUse('submit')]);
const told = (request: MessagesRequest | undefined) =>
  request !== undefined && JSON.stringify(request.messages.at(-1)).includes('Loop guard');
const failing = (answer = 'no such file'): ToolAnswer => ({ content: answer, isError: true });

describe('the loop guard', () => {
  it('tells of the same failing call at the third time, whatever the order of its keys, and ends at the fourth', async () => {
    let at = 0;
    const call = () =>
      reply([toolUse('look', at++ % 2 === 0 ? { a: 1, b: { c: 2, d: 3 } } : { b: { d: 3, c: 2 }, a: 1 })]);
    await using api = await startScriptedApi(call);
    let errors = 0;
    const look = recordingTool([], { name: 'look', answer: () => failing(`failed at ${++errors}`) });
    const { outcome } = await runOn(api, { tools: [look, submitTool()] });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 4 });
    expect(api.requests.map(({ body }) => told(body))).toEqual([false, false, false, true]);
  });

  it('tells of the same call at the fifth time and ends at the sixth', async () => {
    await using api = await startScriptedApi(() => reply([toolUse('look', { at: 'a' })]));
    const { outcome } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 6 });
    expect(api.requests.map(({ body }) => told(body))).toEqual([false, false, false, false, false, true]);
  });

  it('sees a loop over two calls, and lets a model that was told go on with another', async () => {
    await using api = await startScriptedApi((_, n) =>
      n <= 9 ? reply([toolUse('look', { at: n % 2 })]) : submit(),
    );
    const { outcome } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    expect(outcome).toMatchObject({ kind: 'done', turns: 10 });
    expect(api.requests.map(({ body }) => told(body)).indexOf(true)).toBe(9);
  });

  it('counts anew after a change', async () => {
    const look = () => toolUse('look', { at: 'a' });
    await using api = await startScriptedApi((_, n) => {
      if (n > 12) return submit();
      return reply(n % 3 === 0 ? [look(), toolUse('change', { n })] : [look(), look()]);
    });
    const tools = [
      recordingTool([], { name: 'look' }),
      recordingTool([], { name: 'change', readOnly: false }),
      submitTool(),
    ];
    const { outcome } = await runOn(api, { tools });
    expect(outcome).toMatchObject({ kind: 'done', turns: 13 });
    // The fifth look stands before the change, in its turn.
    expect(api.requests.some(({ body }) => told(body))).toBe(false);
  });

  it.each([
    ['that writes', false, false, [5, 1]],
    ['that writes and fails', false, true, [3, 1]],
    ['that reads', true, false, [5, 1]],
    ['that reads and fails', true, true, [5, 1]],
  ] as const)(
    'counts calls, not turns: of the same call %s no more are run',
    async (_, readOnly, isError, runs) => {
      const calls: ToolCallRecord[] = [];
      const work = recordingTool(calls, { name: 'work', readOnly, answer: { content: 'worked', isError } });
      const same = (n: number) => toolUse('work', n % 2 === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 });
      const ran: number[] = [];
      await using api = await startScriptedApi(() => {
        ran.push(calls.length);
        return reply(Array.from({ length: 100 }, (_, n) => same(n)));
      });
      const { outcome } = await runOn(api, { tools: [work, submitTool()] });
      expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 2 });
      expect([ran[1], calls.length - (ran[1] ?? 0)]).toEqual(runs);
      expect(told(api.requests[1]?.body)).toBe(true);
      const refused = lastResults(api.requests[1]?.body ?? missing()).filter(({ text }) =>
        /^not run/.test(text),
      );
      expect(refused).toHaveLength(100 - runs[0]);
      expect(refused.every((result) => result.isError)).toBe(true);
    },
  );

  it('lets a turn that changes something between the same calls go on', async () => {
    const calls: ToolCallRecord[] = [];
    const pair = (n: number) => [toolUse('test', {}), toolUse('edit', { n })];
    await using api = await startScriptedApi((_, n) =>
      n <= 2 ? reply(Array.from({ length: 10 }, (_, at) => pair(n * 10 + at)).flat()) : submit(),
    );
    const tools = [
      recordingTool(calls, { name: 'test', readOnly: false, bookkeeping: true }),
      recordingTool(calls, { name: 'edit', readOnly: false }),
      submitTool(),
    ];
    expect((await runOn(api, { tools })).outcome).toMatchObject({ kind: 'done', turns: 3 });
    expect(calls).toHaveLength(40);
  });

  it('takes two same calls that end a turn for one', async () => {
    await using api = await startScriptedApi(() => reply([toolUse('submit'), toolUse('submit')]));
    const { outcome } = await runOn(api, { tools: [submitTool([], failing())] });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 4 });
  });

  it('goes on counting over calls that only keep books', async () => {
    const { tool: checklist } = recordingChecklist();
    const note = recordingTool([], { name: 'board_note', readOnly: false, bookkeeping: true });
    const books = [
      (n: number) => toolUse('todo_write', { todos: [todo(`step ${n}`)] }),
      (n: number) => toolUse('board_note', { text: `note ${n}` }),
    ];
    for (const keep of books) {
      await using api = await startScriptedApi((_, n) =>
        reply(n % 2 === 0 ? [keep(n)] : [toolUse('look', { at: 'a' }), keep(n)]),
      );
      const tools = [recordingTool([], { name: 'look' }), checklist, note, submitTool()];
      const { outcome } = await runOn(api, { tools });
      expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 11 });
    }
  });

  it('leaves a wait alone that brings other news each time, not one that brings the same', async () => {
    for (const [news, kind] of [
      [(n: number) => `news ${n}`, 'limit'],
      [() => 'nothing new', 'failed'],
    ] as const) {
      let waits = 0;
      const wait = recordingTool([], {
        name: 'wait',
        endsAttempt: true,
        answer: () => ({ content: news(++waits) }),
      });
      await using api = await startScriptedApi(() => reply([toolUse('wait')]));
      const { outcome } = await runOn(api, { tools: [wait], limits: { ...LIMITS, maxTurns: 10 } });
      expect(outcome.kind).toBe(kind);
    }
  });

  it.each<[string, (n: number) => ToolAnswer]>([
    ['with other words each time', (n) => failing(`refused at ${n}`)],
    ['with the same words', () => failing()],
  ])('ends at the fourth of a call that may end the work and is refused %s', async (_, answer) => {
    let refused = 0;
    const submitting = { ...submitTool(), execute: async () => answer(++refused) };
    await using api = await startScriptedApi((_, n) => reply([toolUse('look', { n }), toolUse('submit')]));
    const { outcome } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitting] });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 4 });
    expect(api.requests.map(({ body }) => told(body))).toEqual([false, false, false, true]);
  });

  it.each<[string, ToolAnswer]>([
    ['that changed something', { content: 'written' }],
    ['that ran and failed, for it may have changed something', failing('exit code 1')],
  ])('counts refusals of a submit anew after a call %s', async (_, answer) => {
    let refused = 0;
    const submitting = { ...submitTool(), execute: async () => failing(`refused at ${++refused}`) };
    const mend = recordingTool([], { name: 'mend', readOnly: false, answer });
    await using api = await startScriptedApi((_, n) => reply([toolUse('mend', { n }), toolUse('submit')]));
    const { outcome } = await runOn(api, { tools: [mend, submitting], limits: { ...LIMITS, maxTurns: 8 } });
    expect(outcome).toMatchObject({ kind: 'limit', bound: 'turns' });
    expect(api.requests.some(({ body }) => told(body))).toBe(false);
  });

  it.each<[string, (n: number) => [string, Record<string, unknown>]]>([
    ['a call whose input is refused', (n) => ['strict', { n }]],
    ['another refused call that may end the work', () => ['wait', {}]],
  ])('goes on counting refusals of a submit over %s', async (_, other) => {
    let refused = 0;
    const ender = (name: string) =>
      recordingTool([], {
        name,
        readOnly: false,
        endsAttempt: true,
        answer: () => failing(`refused at ${++refused}`),
      });
    const strict = recordingTool([], {
      name: 'strict',
      readOnly: false,
      inputSchema: z.strictObject({ path: z.string() }),
    });
    await using api = await startScriptedApi((_, n) =>
      reply([n % 2 === 0 ? toolUse(...other(n)) : toolUse('submit')]),
    );
    const { outcome } = await runOn(api, { tools: [strict, ender('wait'), ender('submit')] });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 7 });
  });

  it('leaves a call alone that is refused with other news each time, not one refused with the same', async () => {
    for (const [news, kind] of [
      [(n: number) => `news ${n}`, 'limit'],
      [() => 'nothing new', 'failed'],
    ] as const) {
      let finishes = 0;
      const finish = recordingTool([], {
        name: 'finish',
        readOnly: false,
        endsAttempt: true,
        answer: () => ({ ...failing(news(++finishes)), isNews: true }),
      });
      await using api = await startScriptedApi(() => reply([toolUse('finish')]));
      const { outcome } = await runOn(api, { tools: [finish], limits: { ...LIMITS, maxTurns: 10 } });
      expect(outcome.kind).toBe(kind);
    }
  });

  it('says what it says once, also after a crash', async () => {
    await using api = await startScriptedApi(() => reply([toolUse('look', { at: 'a' })]));
    const tools = [recordingTool([], { name: 'look' }), submitTool()];
    const five = await runOn(api, { tools, limits: { ...LIMITS, maxTurns: 5 } });
    const journal = memoryJournal(1, five.journal.entries);
    await runOn(api, { tools, journal });
    const said = journal.entries.filter((entry) => JSON.stringify(entry).includes('Loop guard'));
    expect(said).toHaveLength(1);
  });
});

describe('a turn of more calls than may be run', () => {
  it('runs the first 128 and says so of the others, one that would end the attempt among them', async () => {
    const calls: ToolCallRecord[] = [];
    const many = Array.from({ length: 150 }, (_, n) => toolUse('change', { n }));
    await using api = await startScriptedApi((_, n) =>
      n === 1 ? reply([...many, toolUse('submit')]) : submit(),
    );
    const tools = [recordingTool(calls, { name: 'change', readOnly: false }), submitTool(calls)];
    expect((await runOn(api, { tools })).outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(calls.map(({ name }) => name)).toEqual([...Array(128).fill('change'), 'submit']);
    const refused = lastResults(api.requests[1]?.body ?? missing()).slice(128);
    expect(refused).toHaveLength(23);
    expect(refused.every(({ text, isError }) => isError && text.startsWith('not run: too many calls'))).toBe(
      true,
    );
  });

  it('ends the same when each of its calls is the last before a crash', async () => {
    const turn = [
      ...Array.from({ length: 8 }, () => toolUse('change', { at: 'a' })),
      ...Array.from({ length: 8 }, () => toolUse('look', { at: 'a' })),
      ...Array.from({ length: 125 }, (_, n) => toolUse('look', { n })),
      toolUse('submit'),
    ];
    const tools = [
      recordingTool([], { name: 'look' }),
      recordingTool([], { name: 'change', readOnly: false, idempotent: true }),
      submitTool(),
    ];
    const answers = ({ entries }: { entries: readonly JournalEntry[] }) =>
      Object.fromEntries(
        entries.flatMap((entry) => (entry.kind === 'tool.result' ? [[entry.toolUseId, entry.content]] : [])),
      );
    await using api = await startScriptedApi([reply(turn)]);
    const whole = await runOn(api, { tools, limits: { ...LIMITS, maxTurns: 1, parallelTools: 4 } });
    expect(Object.values(answers(whole.journal)).filter((text) => text.startsWith('not run'))).toHaveLength(
      20,
    );
    for (let length = 2; length < whole.journal.entries.length; length += 7) {
      for (const attempt of [1, 2]) {
        const journal = memoryJournal(attempt, whole.journal.entries.slice(0, length));
        await using again = await startScriptedApi([submit()]);
        await runOn(again, { tools, journal, attempt });
        expect(answers(journal)).toMatchObject(answers(whole.journal));
      }
    }
  });
});

describe('at 80 % of its turns', () => {
  it('the model is told to wrap up, once, after the results', async () => {
    await using api = await startScriptedApi((_, n) => (n <= 9 ? reply([toolUse('look', { n })]) : submit()));
    const limits: AgentOptions['limits'] = { ...LIMITS, maxTurns: 10 };
    const { outcome } = await runOn(api, {
      tools: [recordingTool([], { name: 'look' }), submitTool()],
      limits,
    });
    expect(outcome.kind).toBe('done');
    const wrapUps = api.requests.map(({ body }) => allText(body).split('Wrap up').length - 1);
    expect(wrapUps).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
    expect(api.requests[8]?.body.messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result' },
      { type: 'text', text: expect.stringContaining('8 of 10 turns are used') },
    ]);
  });
});

describe('with few turns', () => {
  it('the model is told to wrap up before the last one, where there is more than one', async () => {
    for (const maxTurns of [1, 2, 3, 4, 5]) {
      await using api = await startScriptedApi((_, n) => reply([toolUse('look', { n })]));
      const tools = [recordingTool([], { name: 'look' }), submitTool()];
      await runOn(api, { tools, limits: { ...LIMITS, maxTurns } });
      const told = api.requests.map(({ body }) => allText(body).includes('Wrap up'));
      expect(told).toEqual([...Array(maxTurns - 1).fill(false), maxTurns > 1]);
    }
  });
});

describe('plan mode', () => {
  const write = () => toolUse('todo_write', { todos: [todo('a')] }, 'todo');

  it('refuses all but read-only tools and the ones it allows, by code, while all stay listed [row 124] [row 41] [row 108]', async () => {
    const calls: ToolCallRecord[] = [];
    const { tool: checklist, updates } = recordingChecklist();
    await using api = await startScriptedApi([
      reply([
        toolUse('look', {}, 'look'),
        write(),
        toolUse('change', {}, 'change'),
        toolUse('submit_plan', {}, 'plan'),
      ]),
      submit(),
      submit(),
    ]);
    const tools = [
      recordingTool(calls, { name: 'look' }),
      checklist,
      recordingTool(calls, { name: 'change', readOnly: false }),
      recordingTool(calls, { name: 'submit_plan', readOnly: false }),
      submitTool(calls),
    ];
    const run = (planMode: AgentOptions['planMode']) =>
      runOn(api, { tools, limits: { ...LIMITS, maxTurns: 2 }, ...(planMode ? { planMode } : {}) });
    await run({ allows: ['submit_plan'] });
    expect(calls.map(({ name }) => name)).toEqual(['look', 'submit_plan']);
    expect(updates).toEqual([]);
    const results = lastResults(api.requests[1]?.body ?? missing());
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true, false]);
    expect(JSON.parse(results[1]?.text ?? '')).toMatchObject({
      code: 'plan_mode',
      next: 'use read-only tools, or submit_plan',
    });
    await run(undefined);
    const listed = api.requests.map(({ body }) => JSON.stringify(body.tools));
    expect(new Set(listed).size).toBe(1);
  });

  it('is not lifted by the reminder: that asks, and permits nothing [row 42] [row 41]', async () => {
    const calls: ToolCallRecord[] = [];
    const { tool: checklist, updates } = recordingChecklist();
    await using api = await startScriptedApi((_, n) => {
      if (n <= 3) return reply([toolUse('look', { n })]);
      return n === 4 ? reply([write(), toolUse('change', {}, 'change')]) : submit();
    });
    const tools = [
      recordingTool(calls, { name: 'look' }),
      checklist,
      recordingTool(calls, { name: 'change', readOnly: false }),
      submitTool(calls),
    ];
    const limits = { ...LIMITS, maxTurns: 5 };
    await runOn(api, { tools, limits, planMode: { allows: [] }, checklistRemind: true });
    expect(JSON.stringify(api.requests[3]?.body.messages.at(-1))).toContain('<reminder>');
    expect(lastResults(api.requests[4]?.body ?? missing()).map(({ text }) => JSON.parse(text).code)).toEqual([
      'plan_mode',
      'plan_mode',
    ]);
    expect(calls.filter(({ name }) => name !== 'look')).toEqual([]);
    expect(updates).toEqual([]);
  });
});

describe('two tools of one turn of which one throws and one hangs', () => {
  it('are both answered, in order, and the turn goes on', async () => {
    await using api = await startScriptedApi([
      reply([toolUse('hang', {}, 'c1'), toolUse('throw', {}, 'c2')]),
      submit(),
    ]);
    const tools = [
      recordingTool([], { name: 'hang', timeoutMs: 30, answer: () => new Promise(() => {}) }),
      recordingTool([], { name: 'throw', answer: () => Promise.reject(new Error('broken')) }),
      submitTool(),
    ];
    const { outcome } = await runOn(api, { tools });
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(lastResults(api.requests[1]?.body ?? missing())).toEqual([
      { id: 'c1', isError: true, text: 'hang timed out after 30 ms and was stopped.' },
      { id: 'c2', isError: true, text: 'throw failed: broken' },
    ]);
  });
});

function missing(): never {
  throw new Error('the request is missing');
}
