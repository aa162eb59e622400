import { describe, expect, it } from 'vitest';
import { BoardPlanInput, FinishJobInput, SubmitPlanInput } from '../../packages/contracts/src/index.ts';
import { wantedGlob } from '../../packages/simulated-model/src/lead-view.ts';
import { BoardStub, COMBINED, leadRequest, worker } from './board-stub.ts';
import { play, refused, type ToolCall } from './conversations.ts';

const finishes = (call: ToolCall) => call.name === 'finish_job';
const names = (calls: ToolCall[]) => calls.map(({ name }) => name);

describe('the lead plans', () => {
  it('looks, plans a task a file and one that combines, waits, and finishes with the combined output', async () => {
    const board = new BoardStub(['a.md', 'docs/b.md']);
    const { calls } = await play(leadRequest(), worker(board), finishes);
    expect(names(calls)).toEqual([
      'list_files',
      'board_list',
      'board_plan',
      'board_wait',
      'board_get',
      'finish_job',
    ]);
    expect(calls[0]?.input).toEqual({ glob: '**/*.md', limit: 10_000 });
    const { ops } = BoardPlanInput.parse(calls[2]?.input);
    expect(ops).toMatchObject([
      { op: 'add', key: 'page:a.md', title: 'Review a.md', input: { path: 'a.md' } },
      { op: 'add', key: 'page:docs/b.md', input: { path: 'docs/b.md' } },
      {
        op: 'add',
        key: 'combine',
        input: { combine: true },
        dependsOn: [
          { task: 'page:a.md', condition: 'settled' },
          { task: 'page:docs/b.md', condition: 'settled' },
        ],
      },
    ]);
    const finish = FinishJobInput.parse(calls[5]?.input);
    expect(finish.output).toEqual({ pages: COMBINED.pages, totals: COMBINED.totals });
  });

  it('plans 250 files in calls of at most 100, every file once, and combines them all', async () => {
    const files = Array.from({ length: 250 }, (_, i) => `docs/page ${i}.md`);
    const board = new BoardStub(files);
    const { calls } = await play(leadRequest(), worker(board), finishes);
    const plans = calls
      .filter(({ name }) => name === 'board_plan')
      .map(({ input }) => BoardPlanInput.parse(input));
    expect(plans.map(({ ops }) => ops.length)).toEqual([100, 100, 51]);
    expect(board.tasks.map(({ key }) => key)).toEqual([...files.map((file) => `page:${file}`), 'combine']);
    expect(board.tasks.at(-1)?.dependsOn).toHaveLength(250);
  });

  it('makes smaller plans when its replies may be short', async () => {
    const files = Array.from({ length: 12 }, (_, i) => `${i}.md`);
    const board = new BoardStub(files);
    const { calls } = await play(leadRequest(undefined, undefined, 1500), worker(board), finishes);
    expect(names(calls).filter((name) => name === 'board_plan').length).toBeGreaterThan(1);
    expect(board.tasks).toHaveLength(13);
  });

  it('combines more than 500 files in parts first', async () => {
    const board = new BoardStub(Array.from({ length: 1100 }, (_, i) => `${i}.md`));
    await play(leadRequest(), worker(board), finishes);
    const combining = board.tasks.filter(({ key }) => key.startsWith('combine'));
    expect(combining.map(({ key, dependsOn }) => [key, dependsOn.length])).toEqual([
      ['combine:1', 500],
      ['combine:2', 500],
      ['combine:3', 100],
      ['combine', 3],
    ]);
    expect(board.tasks).toHaveLength(1104);
  });

  it('keeps keys and titles of very long paths in bounds and different', async () => {
    const long = `${'deep/'.repeat(60)}`;
    const board = new BoardStub([`${long}a.md`, `${long}b.md`]);
    await play(leadRequest(), worker(board), finishes);
    expect(new Set(board.tasks.map(({ key }) => key)).size).toBe(3);
  });

  it('plans a task for everything that is listed but links to folders, also for what can not be read', async () => {
    const board = new BoardStub(['a.md']);
    const listing = [
      '2 files · 5 links and other entries',
      '"odd\\nname.md"\t5\tbytes',
      'a.md\t1\tbytes',
      "away.md\tlink\t-> /etc/passwd (outside the workspace: can't be read)",
      'gone.md\tlink\t-> none.md (nothing is there)',
      'folder.md\tlink\t-> docs (a folder in the workspace)',
      "pipe.md\tspecial\tnot a regular file: can't be read",
      "locked\tfolder\tcan't be read: EACCES",
    ];
    const answers = worker(board, ({ name }) => (name === 'list_files' ? listing.join('\n') : undefined));
    const { calls } = await play(leadRequest(), answers, finishes);
    const planned = ['odd\nname.md', 'a.md', 'away.md', 'gone.md', 'pipe.md', 'locked'];
    expect(board.tasks.map(({ key }) => key)).toEqual([...planned.map((path) => `page:${path}`), 'combine']);
    expect(FinishJobInput.parse(calls.at(-1)?.input).summary).not.toContain('not listed');
  });
});

describe('the lead, after a restart,', () => {
  it('plans nothing again when the board has the whole plan already', async () => {
    const board = new BoardStub(['a.md', 'b.md']);
    board.add([{ key: 'page:a.md' }, { key: 'page:b.md' }, { key: 'combine' }]);
    const { calls } = await play(leadRequest(), worker(board), finishes);
    expect(names(calls)).toEqual([
      'list_files',
      'board_list',
      'board_wait',
      'board_list',
      'board_get',
      'finish_job',
    ]);
    expect(calls[4]?.input).toEqual({ taskId: board.tasks[2]?.taskId });
  });

  it('completes a plan that a crash left half made', async () => {
    const board = new BoardStub(['a.md', 'b.md']);
    board.add([{ key: 'page:a.md' }]);
    const { calls } = await play(leadRequest(), worker(board), finishes);
    expect(names(calls)).toContain('board_plan');
    expect(board.tasks.map(({ key }) => key)).toEqual(['page:a.md', 'page:b.md', 'combine']);
  });
});

describe('the lead', () => {
  it('only follows tasks that were given with the job', async () => {
    const board = new BoardStub(['a.md']);
    board.add([{ key: 'mine' }, { key: 'yours' }]);
    const { calls } = await play(
      leadRequest(undefined, { workspace: true, tasks: 2 }),
      worker(board),
      finishes,
    );
    expect(names(calls)).toEqual(['list_files', 'board_list', 'board_wait', 'finish_job']);
    expect(calls[3]?.input).toMatchObject({ summary: '2 of 2 tasks completed, 0 failed, 0 cancelled.' });
  });

  it('finishes at once when there is nothing to do', async () => {
    const { calls } = await play(leadRequest('Count *.txt please.'), worker(new BoardStub([])), finishes);
    expect(names(calls)).toEqual(['list_files', 'board_list', 'finish_job']);
    expect(calls[0]?.input.glob).toBe('**/*.txt');
    expect(calls[2]?.input.summary).toContain('**/*.txt');
  });

  it('does not look for files when the job has no workspace', async () => {
    const { calls } = await play(
      leadRequest('Think.', { workspace: false }),
      worker(new BoardStub([])),
      finishes,
    );
    expect(names(calls)).toEqual(['board_list', 'finish_job']);
  });

  it('waits on while tasks are open', async () => {
    const board = new BoardStub(['a.md']);
    let waits = 0;
    const answers = worker(board, ({ name }) =>
      name === 'board_wait' && ++waits < 3
        ? { news: [{ line: 'one failed' }], counts: board.counts(), allSettled: false }
        : undefined,
    );
    const { calls } = await play(leadRequest(), answers, finishes);
    expect(names(calls).filter((name) => name === 'board_wait')).toHaveLength(3);
  });

  it('names failed pages in its summary', async () => {
    const failed = [{ taskId: 't_2', title: 'Review gone.md', reason: 'not there' }];
    const answers = worker(new BoardStub(['a.md', 'gone.md']), ({ name }) =>
      name === 'board_get'
        ? { task: { status: 'completed', result: { summary: 's', output: { ...COMBINED, failed } } } }
        : undefined,
    );
    const { calls } = await play(leadRequest(), answers, finishes);
    expect(calls.at(-1)?.input.summary).toContain('1 failed: Review gone.md.');
  });

  it('says how many files it was not shown', async () => {
    const listing = '1,200 files\na.md\t1\tbytes\n[showing 20 of 50000 characters]';
    const answers = worker(new BoardStub([]), ({ name }) => (name === 'list_files' ? listing : undefined));
    const { calls } = await play(leadRequest(), answers, finishes);
    expect(calls.at(-1)?.input.summary).toContain('Not listed, and so not reviewed: 1199 more files.');
  });

  it('finishes without output when the combining task failed', async () => {
    const answers = worker(new BoardStub(['a.md']), ({ name }) =>
      name === 'board_get'
        ? { task: { status: 'failed', failure: { class: 'infra', reason: 'worker lost' } } }
        : undefined,
    );
    const { calls } = await play(leadRequest(), answers, finishes);
    expect(calls.at(-1)?.input).toEqual({
      summary: 'All tasks are settled, but their results were not combined: worker lost',
    });
  });
});

describe('the lead, refused,', () => {
  it('proposes its plan when it needs approval, and follows it once approved', async () => {
    const board = new BoardStub(['a.md']);
    const answers = worker(board, ({ name, input }) => {
      if (name === 'board_plan') return refused('plan_mode', 'a person approves the plan first', 'later');
      if (name === 'submit_plan')
        return board.add(SubmitPlanInput.parse(input).tasks.map((task) => Object(task)));
      return undefined;
    });
    const { calls } = await play(leadRequest(), answers, finishes);
    expect(names(calls)).toEqual([
      'list_files',
      'board_list',
      'board_plan',
      'submit_plan',
      'board_wait',
      'board_get',
      'finish_job',
    ]);
  });

  it('proposes a rejected plan again, three times at most', async () => {
    const answers = worker(new BoardStub(['a.md']), ({ name }) => {
      if (name === 'board_plan') return refused('plan_mode', 'a person approves the plan first', 'later');
      return name === 'submit_plan' ? { decision: 'rejected', text: 'fewer tasks' } : undefined;
    });
    const { calls, said } = await play(leadRequest(), answers, () => false);
    const plans = calls.filter(({ name }) => name === 'submit_plan');
    expect(plans).toHaveLength(3);
    expect(plans[1]?.input.text).toContain('fewer tasks');
    expect(said.at(-1)).toContain('rejected 3 times');
  });

  it('looks again after a refused finish, and goes on waiting when tasks are open', async () => {
    const board = new BoardStub(['a.md']);
    let finished = 0;
    const answers = worker(board, ({ name }) => {
      if (name !== 'finish_job') return undefined;
      const reopened = board.tasks[0];
      if (reopened !== undefined) reopened.status = 'pending';
      return refused('invalid_transition', '1 task is open', 'later');
    });
    const { calls } = await play(leadRequest(), answers, (call) => finishes(call) && ++finished === 2);
    const tail = names(calls).slice(names(calls).indexOf('finish_job'));
    expect(tail).toEqual(['finish_job', 'board_list', 'board_wait', 'board_get', 'finish_job']);
  });

  it('gives up after three refusals that no wait came between', async () => {
    const answers = worker(new BoardStub(['a.md']), ({ name }) =>
      name === 'finish_job' ? refused('invalid_argument', 'output does not match the schema') : undefined,
    );
    const { calls, said } = await play(leadRequest(), answers, () => false);
    expect(names(calls).filter((name) => name === 'finish_job')).toHaveLength(3);
    expect(said.at(-1)).toBe("I can't finish: output does not match the schema");
  });

  it('gives up a plan that is refused three times', async () => {
    const answers = worker(new BoardStub(['a.md']), ({ name }) =>
      name === 'board_plan' ? refused('limit_exceeded', 'at most 1 task') : undefined,
    );
    const { calls, said } = await play(leadRequest(), answers, () => false);
    expect(names(calls).filter((name) => name === 'board_plan')).toHaveLength(3);
    expect(said.at(-1)).toContain('at most 1 task');
  });

  it('waives tasks that wait for lost ones when nothing else moves', async () => {
    const board = new BoardStub([]);
    board.add(Array.from({ length: 60 }, (_, i) => ({ key: `given ${i}` })));
    for (const task of board.tasks) task.status = 'completed';
    for (const index of [3, 55]) Object.assign(board.tasks[index] ?? {}, { status: 'pending' });
    const counts = { ...board.counts(), failed: 1, completed: 57, ready: 0, unreachable: 1, waiting: 1 };
    const answers = worker(board, ({ name, input }) => {
      if (name === 'board_wait') return { news: [], counts, allSettled: false };
      return name === 'board_list' ? { ...board.list(input), counts } : undefined;
    });
    const { calls } = await play(leadRequest('x', { workspace: false, tasks: 60 }), answers, finishes);
    const finish = FinishJobInput.parse(calls.at(-1)?.input);
    expect(finish.waive?.map(({ taskId }) => taskId)).toEqual([
      board.tasks[3]?.taskId,
      board.tasks[55]?.taskId,
    ]);
  });
});

describe('wantedGlob', () => {
  const goals: [string, string][] = [
    ['Review every page.', '**/*.md'],
    ['Count the words of all *.txt files.', '**/*.txt'],
    ['Look at `docs/**/*.mdx`, please', 'docs/**/*.mdx'],
    ['All files matching "src/**/*.{ts,tsx}".', 'src/**/*.{ts,tsx}'],
    ['This is *very* important, **really**.', '**/*.md'],
    ['* a bullet\n* another', '**/*.md'],
  ];
  it.each(goals)('takes from %j the pattern %s', (goal, glob) => {
    expect(wantedGlob(goal)).toBe(glob);
  });
});
