import { type BoardSnapshot, type RenderOptions, renderBoard, type TaskLine } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { shownLine, textColumns } from '../../packages/contracts/src/shown-text.ts';
import { openBoardFixture } from '../support/board.ts';

const idOf = (number: number) =>
  `t_abcd23${String(number + 20)
    .replaceAll('0', 'z')
    .replaceAll('1', 'y')}`;

function aLine(number: number, fields: Partial<TaskLine> = {}): TaskLine {
  return {
    id: idOf(number),
    number,
    version: 1,
    title: `Task ${number}`,
    status: 'pending',
    priority: 2,
    labels: [],
    attempt: 0,
    failures: 0,
    ...fields,
  };
}

const NO_COUNTS: BoardSnapshot['counts'] = {
  total: 0,
  pending: 0,
  in_progress: 0,
  in_review: 0,
  blocked: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  ready: 0,
  waiting: 0,
  scheduled: 0,
  unreachable: 0,
  held: 0,
};

function aSnapshot(tasks: TaskLine[], fields: Partial<BoardSnapshot> = {}): BoardSnapshot {
  return {
    jobId: 'job_abcdefgh2345',
    title: 'Review the docs',
    status: 'running',
    counts: { ...NO_COUNTS, total: tasks.length, pending: tasks.length, ready: tasks.length },
    tasks,
    more: 0,
    asOf: '1-0',
    ...fields,
  };
}

const linesOf = (snapshot: BoardSnapshot, options: Partial<RenderOptions> = {}) =>
  renderBoard(snapshot, { format: 'plain', ...options }).split('\n');
const tasksOf = (tasks: TaskLine[], options: Partial<RenderOptions> = {}) =>
  linesOf(aSnapshot(tasks), options).slice(2);

describe('a rendered board', () => {
  it('tells title, status and the counts that are not nought', () => {
    const counts = { ...NO_COUNTS, total: 6, pending: 3, ready: 1, waiting: 2, completed: 2, in_progress: 1 };
    expect(linesOf(aSnapshot([], { counts })).slice(0, 2)).toEqual([
      'Review the docs',
      'job_abcdefgh2345 running, 6 tasks: 2 completed, 1 in progress, 3 pending (1 ready, 2 waiting)',
    ]);
    const awaiting = aSnapshot([], { status: 'awaiting_approval' });
    expect(linesOf(awaiting)[1]).toBe('job_abcdefgh2345 awaiting approval, 0 tasks');
  });

  it('tells proposals apart from the tasks that are counted, also where not all are shown', () => {
    const counts = { ...NO_COUNTS, total: 1, pending: 1, ready: 1 };
    const tasks = [aLine(1), aLine(2, { readiness: { state: 'held', cause: 'proposal' } })];
    expect(linesOf(aSnapshot(tasks, { counts }))[1]).toContain('1 task and 1 proposal: 1 pending (1 ready)');
    expect(linesOf(aSnapshot(tasks, { counts, more: 1 }))[1]).toContain('1 task and 2 proposals: ');
    expect(linesOf(aSnapshot([aLine(1)], { counts }))[1]).toContain('1 task: ');
  });

  it('marks every status, and says who holds a task, what it waits for and why it stopped', () => {
    const owner = { kind: 'sub-agent' as const, id: 'worker-1' };
    const tasks = [
      aLine(1, { status: 'completed' }),
      aLine(2, { status: 'in_progress', owner }),
      aLine(3, { status: 'in_review' }),
      aLine(4, { status: 'blocked', block: { kind: 'needs_input', reason: 'which?' } }),
      aLine(5, { status: 'failed', failures: 3, failure: { class: 'check', reason: 'exit 1' } }),
      aLine(6, { status: 'cancelled' }),
      aLine(7, { readiness: { state: 'ready' }, failures: 2 }),
      aLine(8, { readiness: { state: 'waiting', on: [idOf(2), 't_zzzz9999'] } }),
      aLine(9, { readiness: { state: 'unreachable', because: [idOf(5)] } }),
      aLine(10, { readiness: { state: 'scheduled', at: '2026-01-01T00:00:00.000Z' } }),
      aLine(11, { readiness: { state: 'held', cause: 'proposal' } }),
      aLine(12, { readiness: { state: 'waiting', on: ['news'] } }),
    ];
    expect(tasksOf(tasks)).toEqual([
      '[x]  #1 Task 1   completed',
      '[>]  #2 Task 2   in progress, sub-agent worker-1',
      '[?]  #3 Task 3   in review',
      '[!]  #4 Task 4   blocked (needs_input)',
      '[#]  #5 Task 5   failed (check)',
      '[-]  #6 Task 6   cancelled',
      '[ ]  #7 Task 7   ready, failed 2 times before',
      '[ ]  #8 Task 8   waiting on #2, t_zzzz9999',
      '[ ]  #9 Task 9   unreachable because of #5',
      '[ ] #10 Task 10  scheduled at 2026-01-01T00:00:00.00…',
      '[ ] #11 Task 11  held (proposal)',
      '[ ] #12 Task 12  waiting on news',
    ]);
  });

  it('shows below a task in progress, and no other, what its holder says of it', () => {
    const progress = 'Todos (1/3 completed)\n- read\u001b[2J \u202e# *all*';
    const tasks = [
      aLine(1, { status: 'in_progress', progress }),
      aLine(2, { status: 'in_progress', parent: idOf(1), progress: '1. [x](y)' }),
      aLine(3, { status: 'in_progress', progress: ' \n ' }),
      aLine(4, { status: 'completed', progress: 'half' }),
    ];
    expect(tasksOf(tasks)).toEqual([
      '[>] #1 Task 1 [0/1]  in progress',
      '         Todos (1/3 completed) - read\\u001b[2J \\u202e# *all*',
      '[>] #2   Task 2      in progress',
      '           1. [x](y)',
      '[>] #3 Task 3        in progress',
      '[x] #4 Task 4        completed',
    ]);
    expect(tasksOf(tasks, { format: 'markdown' }).slice(2, 6)).toEqual([
      '- [ ] #1 Task 1 \\[0/1\\] (in progress)',
      '  - progress: Todos (1/3 completed) - read\\\\u001b\\[2J \\\\u202e\\# \\*all\\*',
      '  - [ ] #2 Task 2 (in progress)',
      '    - progress: 1. \\[x\\](y)',
    ]);
  });

  it('keeps progress within its columns, and leaves it out where lines are scarce', () => {
    const tasks = Array.from({ length: 5 }, (_, i) =>
      aLine(i + 1, { status: 'in_progress', progress: '漢字 '.repeat(500) }),
    );
    for (const format of ['plain', 'ansi', 'markdown'] as const) {
      const head = format === 'markdown' ? 4 : 2;
      for (const width of [40, 100]) {
        const lines = linesOf(aSnapshot(tasks), { format, width, maxLines: head + 10 });
        expect(lines).toHaveLength(head + 10);
        const shown = lines.filter((line) => line.includes('漢字'));
        expect(shown).toHaveLength(5);
        if (format === 'plain') expect(Math.max(...shown.map(textColumns))).toBeLessThanOrEqual(width);
      }
      for (const maxLines of [head + 9, head + 5])
        expect(linesOf(aSnapshot(tasks), { format, maxLines })).toHaveLength(head + 5);
      expect(linesOf(aSnapshot(tasks), { format, maxLines: head + 4 })).toHaveLength(head + 4);
    }
  });

  it('names at most five of many dependencies', () => {
    const on = Array.from({ length: 9 }, (_, i) => idOf(i + 2));
    const waits = aLine(1, { readiness: { state: 'waiting', on } });
    const others = on.map((_, i) => aLine(i + 2));
    expect(tasksOf([waits, ...others], { width: 120 })[0]).toContain(
      'waiting on #2, #3, #4, #5, #6 and 4 more',
    );
  });

  it('sets tasks below their parent with how many of them are done, and may group by status', () => {
    const tasks = [
      aLine(1, { title: 'Chapter' }),
      aLine(2, { title: 'Other' }),
      aLine(3, { parent: idOf(1), status: 'completed' }),
      aLine(4, { parent: idOf(1) }),
      aLine(5, { parent: idOf(3) }),
      aLine(6, { parent: 't_zzzz9999' }),
    ];
    expect(tasksOf(tasks).map((line) => line.replace(/ {2,}\S+$/, ''))).toEqual([
      '[ ] #1 Chapter [1/2]',
      '[x] #3   Task 3 [0/1]',
      '[ ] #5     Task 5',
      '[ ] #4   Task 4',
      '[ ] #2 Other',
      '[ ] #6 Task 6',
    ]);
    const byStatus = tasksOf(tasks, { groupBy: 'status' });
    expect(byStatus.map((line) => line.slice(4, 6))).toEqual(['#1', '#2', '#4', '#5', '#6', '#3']);
  });

  it('shows tasks that are each others parents, or their own, once each', () => {
    const tasks = [
      aLine(1, { parent: idOf(2) }),
      aLine(2, { parent: idOf(1) }),
      aLine(3, { parent: idOf(3) }),
    ];
    const numbers = tasksOf(tasks).map((line) => line.slice(4, 6));
    expect(numbers.sort()).toEqual(['#1', '#2', '#3']);
  });

  it('nests a thousand tasks below each other without running out of width or stack', () => {
    const chain = Array.from({ length: 1000 }, (_, i) =>
      aLine(i, { id: `t_${i}`, ...(i > 0 ? { parent: `t_${i - 1}` } : {}) }),
    );
    const lines = tasksOf(chain);
    expect(lines).toHaveLength(1000);
    expect(Math.max(...lines.map(textColumns))).toBeLessThanOrEqual(100);
  });

  it.each([40, 60, 100, 200])('keeps lines within %i columns and states in one column', (width) => {
    const titles = ['漢字テスト'.repeat(30), '👨‍👩‍👧‍👦'.repeat(60), 'x'.repeat(500), 'short', 'é'.repeat(99)];
    const owner = { kind: 'external' as const, id: 'somebody with a very long name indeed'.repeat(3) };
    const lines = tasksOf(
      titles.map((title, i) => aLine(i + 1, { title, status: 'in_progress', owner })),
      { width },
    );
    for (const line of lines) expect(textColumns(line)).toBeLessThanOrEqual(width);
    const columns = lines.map((line) => textColumns(line.slice(0, line.lastIndexOf('  in progress'))));
    expect(new Set(columns).size).toBe(1);
  });

  it('keeps to its lines, and counts what is left out', () => {
    const tasks = Array.from({ length: 30 }, (_, i) => aLine(i + 1));
    for (const format of ['plain', 'ansi', 'markdown'] as const) {
      const lines = linesOf(aSnapshot(tasks, { more: 70 }), { format, maxLines: 12 });
      expect(lines).toHaveLength(12);
      expect(lines.at(-1)).toMatch(format === 'markdown' ? /^- … and 93 more$/ : /^… and 9[13] more$/);
    }
    expect(linesOf(aSnapshot(tasks), { maxLines: 32 })).toHaveLength(32);
    expect(linesOf(aSnapshot(tasks), { maxLines: 32 }).at(-1)).toContain('#30');
    expect(linesOf(aSnapshot(tasks), { maxLines: 1 }).at(-1)).toBe('… and 29 more');
  });

  it('is Markdown in which no title is markup', () => {
    const title = '# [x](http://evil) <b>|`*_~&copy; www.evil.example @ann #7 $x$ \\';
    const markdown = renderBoard(aSnapshot([aLine(1, { title, status: 'completed' })], { title }), {
      format: 'markdown',
    });
    const escaped =
      '\\# \\[x\\](http\\://evil) \\<b\\>\\|\\`\\*\\_\\~\\&copy; www\\.evil.example \\@ann \\#7 \\$x\\$ \\\\';
    expect(markdown).toBe(
      `# ${escaped}\n\njob\\_abcdefgh2345 running, 1 task: 1 pending (1 ready)\n\n- [x] #1 ${escaped} (completed)`,
    );
  });

  it('changes nothing of what it was given', () => {
    const frozen = Object.freeze(aSnapshot([Object.freeze(aLine(1))]));
    expect(linesOf(frozen)).toEqual(linesOf(frozen));
  });

  it('is of a real board: its snapshot has the first tasks, the counts of all and the last event', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const tasks = Array.from({ length: 12 }, (_, i) => ({ key: `k${i}`, title: `Page ${i}` }));
    const { jobId, ids } = await board.job([...tasks, { title: 'All', dependsOn: ['k0', 'k1'] }]);
    const { hold } = await board.claim(jobId, ids.k0 ?? '');
    await boards.progress(hold, 'p1', 'Todos (0/1 completed)');
    const snapshot = await boards.snapshot(jobId, { limit: 5 });
    expect(snapshot).toMatchObject({ jobId, title: 'A job', status: 'running', more: 8 });
    expect(snapshot.counts).toMatchObject({ total: 13, in_progress: 1, waiting: 1 });
    expect(snapshot.tasks.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(snapshot.tasks[0]).toEqual({
      id: ids.k0,
      number: 1,
      key: 'k0',
      version: 2,
      title: 'Page 0',
      status: 'in_progress',
      owner: { kind: 'sub-agent', id: 'worker-1' },
      priority: 2,
      labels: [],
      attempt: 1,
      failures: 0,
      progress: 'Todos (0/1 completed)',
    });
    expect(linesOf(snapshot)[3]?.trim()).toBe('Todos (0/1 completed)');
    expect(snapshot.asOf).toBe((await boards.events(jobId, '0-0', 100)).at(-1)?.id);
    const whole = await boards.snapshot(jobId);
    expect(whole.more).toBe(0);
    expect(linesOf(whole).at(-1)).toContain('waiting on #1, #2');
    await expect(boards.snapshot(jobId, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(boards.snapshot('job_zzzzzzzzzzzz')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a shown line', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢漢漢', 5, '漢漢…'],
    ['漢漢漢', 6, '漢漢漢'],
    ['👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 3, '👨‍👩‍👧‍👦…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['  a \n\t b  ', 9, 'a b'],
    ['', 9, ''],
    ['a\u200b\u202eb', 30, 'a\\u200b\\u202eb'],
    ['a\ud800b', 9, 'a\ufffdb'],
    ['🏴󠁧󠁢󠁥󠁮󠁧󠁿 x\u{e0041}', 30, '🏴󠁧󠁢󠁥󠁮󠁧󠁿 x\\udb40\\udc41'],
    [`a${'\u0301'.repeat(50)}b`, 9, '\ufffdb'],
  ])('of %j in %i columns is %j', (text, columns, shown) => {
    expect(shownLine(text, columns)).toBe(shown);
  });

  it('is cut from a text of any length without looking at all of it', () => {
    expect(shownLine('x'.repeat(50_000_000), 10)).toBe('xxxxxxxxx…');
    expect(textColumns(shownLine('\u0301'.repeat(1_000_000), 40))).toBeLessThanOrEqual(40);
  });
});
