import { describe, expect, it } from 'vitest';
import {
  countRound,
  type PanelEntry,
  projectTodos,
  REMINDER_TEXT,
} from '../../packages/checklist/src/index.ts';
import { todo } from './support.ts';

/** In which of the rounds, each given by the tools it called, the reminder goes out. */
function remindedRounds(rounds: readonly (readonly string[])[]): number[] {
  let counter = 0;
  return rounds.flatMap((names, at) => {
    const step = countRound(counter, names);
    counter = step.counter;
    return step.remind ? [at + 1] : [];
  });
}

const times = (count: number, names: readonly string[]) => Array.from({ length: count }, () => names);

describe('the reminder', () => {
  it('has a fixed text [row 35]', () => {
    expect(REMINDER_TEXT).toBe('<reminder>Update your todos.</reminder>');
  });

  it('counts rounds without the checklist and starts anew with it [row 33] [row 65]', () => {
    expect(countRound(0, ['look'])).toEqual({ counter: 1, remind: false });
    expect(countRound(1, ['look'])).toEqual({ counter: 2, remind: false });
    expect(countRound(2, ['todo_write'])).toEqual({ counter: 0, remind: false });
  });

  it('goes out in the third round and then in the sixth [row 34] [row 36]', () => {
    expect(remindedRounds(times(7, ['look']))).toEqual([3, 6]);
  });

  it('counts a round once, however many tools it called [row 38] [row 66]', () => {
    expect(remindedRounds(times(3, ['a', 'b', 'c', 'd', 'e']))).toEqual([3]);
  });

  it('is put off by any checklist call of a round, under either name [row 39] [row 66]', () => {
    const mixed = [
      ['look'],
      ['look'],
      ['look', 'todo_write', 'look'],
      ['look'],
      ['look'],
      ['TodoWrite'],
      ['look'],
    ];
    expect(remindedRounds(mixed)).toEqual([]);
  });
});

describe('the panel of a log', () => {
  const write = (...contents: string[]): PanelEntry => ({
    kind: 'note',
    name: 'todo/write',
    data: { todos: contents.map((content) => ({ content, status: 'pending' })) },
  });
  const note = (name: string): PanelEntry => ({ kind: 'note', name, data: null });

  it('is null before the first write, then the last one [row 117] [row 119]', () => {
    expect(projectTodos([])).toBeNull();
    expect(projectTodos([write('a'), { kind: 'message' }, write('b', 'c')])).toEqual([todo('b'), todo('c')]);
    expect(projectTodos([write('a'), write()])).toEqual([]);
  });

  it('is the same when the log is replayed in parts [row 7] [row 119]', () => {
    const log = [write('a'), note('turn/start'), write('b'), { kind: 'reply' } as const, note('turn/end')];
    for (let length = 0; length <= log.length; length++) {
      const copy: PanelEntry[] = JSON.parse(JSON.stringify(log.slice(0, length)));
      expect(projectTodos(copy)).toEqual(projectTodos(log.slice(0, length)));
    }
  });

  it('is cleared by the next turn of a person and by a fresh start [row 120]', () => {
    expect(projectTodos([write('a'), note('turn/start')])).toBeNull();
    expect(projectTodos([write('a'), { kind: 'start', fresh: true }])).toBeNull();
  });

  it('outlives the end of a turn, a resume and every other entry [row 121] [row 122]', () => {
    const kept = [todo('a')];
    expect(projectTodos([write('a'), note('turn/end')])).toEqual(kept);
    expect(projectTodos([write('a'), { kind: 'start', fresh: false }, note('compacted')])).toEqual(kept);
    expect(projectTodos([write('a'), note('todo/write')])).toEqual(kept);
  });
});
