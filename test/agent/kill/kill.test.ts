import { describe, expect, it } from 'vitest';
import { createModelCall, runAgent } from '../../../packages/agent/src/index.ts';
import { CrewboardError, type JournalEntry } from '../../../packages/contracts/src/index.ts';
import { memoryJournal } from '../../support/memory-journal.ts';
import { type ScriptedApi, startScriptedApi } from '../../support/scripted-messages-api.ts';
import { LIMITS } from '../support.ts';
import { boundedFetch, boundedJournal, boundedTools, countBoundaries } from './boundaries.ts';
import { byConversation, CALLS, REPLIES, storyTools } from './story.ts';

/** Everything that outlives a process. */
interface Remains {
  entries: readonly JournalEntry[];
  effects: string[];
}

const NOTHING: Remains = { entries: [], effects: [] };

/** Runs one attempt over what an earlier one left; at boundary `killAt` nothing of it has any further effect. */
async function runStory(api: ScriptedApi, attempt: number, before: Remains, killAt?: number) {
  const effects = [...before.effects];
  const journal = memoryJournal(attempt, before.entries);
  const controller = new AbortController();
  let left: Remains | undefined;
  const boundaries = countBoundaries((number) => {
    if (number === killAt) {
      left = { entries: structuredClone([...journal.entries]), effects: [...effects] };
      controller.abort(new Error('killed'));
    }
    if (left !== undefined) throw new CrewboardError('unavailable', 'the process is dead');
  });
  const outcome = await runAgent({
    model: 'claude-test',
    system: 'You are a test.',
    opening: ['Do the task.'],
    limits: LIMITS,
    emit: () => {},
    attempt,
    journal: boundedJournal(journal, boundaries),
    tools: boundedTools(storyTools({ effects, effect: (line) => effects.push(line) }), boundaries),
    callModel: createModelCall({
      baseUrl: api.url,
      apiKey: 'none',
      idleMs: 5000,
      fetch: boundedFetch(boundaries),
    }),
    signal: controller.signal,
  });
  return { outcome, crossed: boundaries.crossed, left: left ?? { entries: journal.entries, effects } };
}

function repliesIn(entries: readonly JournalEntry[]): number {
  return entries.filter(({ kind }) => kind === 'reply').length;
}

function resultIds(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : []));
}

/** The tools that the second attempt started although the journal had their end. */
function repeated(before: Remains, crossed: readonly string[]): string[] {
  const finished = resultIds(before.entries);
  return crossed.filter((name) => finished.some((id) => name === `start of ${id}`));
}

const EFFECTS = [
  'change change_1',
  'board 5/board_1',
  'change change_2',
  'submitted {"summary":"the result"}',
];

describe('a conversation of six turns and nine calls', () => {
  it('crosses every kind of boundary', async () => {
    await using api = await startScriptedApi(byConversation);
    const { outcome, crossed, left } = await runStory(api, 1, NOTHING);
    expect(outcome).toMatchObject({ kind: 'done', turns: 6 });
    expect(CALLS).toHaveLength(9);
    expect(left.effects.map((line) => line.replace(/\d+\/board/, '5/board'))).toEqual(EFFECTS);
    const count = (start: string) => crossed.filter((name) => name.startsWith(start)).length;
    expect([count('before request'), count('after request')]).toEqual([6, 6]);
    expect([count('start of'), count('end of')]).toEqual([9, 9]);
    expect(count('before journal')).toBe(count('after journal'));
    expect(count('before chunk')).toBeGreaterThan(50);
  });

  it('killed at any of them goes on to the same result: nothing journalled is asked or done again', {
    timeout: 120_000,
  }, async () => {
    await using plain = await startScriptedApi(byConversation);
    const whole = await runStory(plain, 1, NOTHING);
    for (let killAt = 1; killAt <= whole.crossed.length; killAt++) {
      await using api = await startScriptedApi(byConversation);
      const first = await runStory(api, 1, NOTHING, killAt);
      const where = `killed at ${killAt}, ${first.crossed[killAt - 1]}`;
      const asked = api.requests.length;
      const second = await runStory(api, 2, first.left);
      expect(second.outcome, where).toMatchObject({ kind: 'done' });
      expect(api.requests.length - asked, where).toBe(REPLIES.length - repliesIn(first.left.entries));
      expect(repeated(first.left, second.crossed), where).toEqual([]);
      const { effects, entries } = second.left;
      expect(new Set(effects).size, where).toBe(effects.length);
      expect(effects.at(-1), where).toBe(whole.left.effects.at(-1));
      // An effect is lost only where its start was journalled and its end unknown: then the model was told so.
      const missing = whole.left.effects.filter((line) => !effects.includes(line));
      expect(missing.length, where).toBeLessThanOrEqual(1);
      const unknown = JSON.stringify(entries).includes('outcome unknown');
      if (missing.length > 0) expect(unknown, where).toBe(true);
      expect(resultIds(entries).sort(), where).toEqual(resultIds(whole.left.entries).sort());
      expect(api.violations, where).toEqual([]);
    }
  });
});
