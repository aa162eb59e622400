import { describe, it } from 'vitest';
import { openTestRedis } from '../../support/redis.ts';
import type { Call, Change, NewModelTask } from './calls.ts';
import { Comparison, openBench } from './run.ts';
import type { Settings } from './state.ts';

/** What the model once found, as the calls that showed it; store, log and model must agree after each. */

const SETTINGS: Settings = {
  lead: false,
  maxParallel: 8,
  allowParallel: true,
  maxTasks: 10,
  maxAttempts: 3,
  maxLeadRuns: 50,
  coalesce: false,
};

function task(key: string, given: Partial<NewModelTask> = {}): NewModelTask {
  return { key, title: 'Task', dependsOn: [], onLost: 'hold', priority: 2, executor: 'agent', ...given };
}

const on = (...keys: string[]): NewModelTask['dependsOn'] =>
  keys.map((key) => ({ on: { key }, condition: 'completed' }));

const change = (parts: Partial<Change>): Change => ({
  do: 'change',
  adds: [],
  edits: [],
  cancels: [],
  reopens: [],
  ...parts,
});

const claim = (number: number, request: string, owner = 'sub-agent:s1'): Call => ({
  do: 'claim',
  owner,
  task: number,
  request,
  lease: 'long',
});

const submit = (number: number, by: number, version: number, request: string): Call => ({
  do: 'submit',
  task: number,
  claim: by,
  version,
  request,
  to: 'complete',
});

async function play(settings: Partial<Settings>, tasks: readonly NewModelTask[], calls: readonly Call[]) {
  await using store = openTestRedis();
  const comparison = await Comparison.open(
    openBench(store.redis, store.prefix),
    { ...SETTINGS, ...settings },
    tasks,
  );
  for (const call of calls) await comparison.call(call);
  await comparison.examine();
}

describe('the order of refusals', () => {
  it('puts an outdated claim before a cycle', async () => {
    const tasks = [task('a'), task('b', { dependsOn: on('a') })];
    await play({}, tasks, [
      claim(1, 'c'),
      { do: 'release', task: 1, claim: 1, request: 'r' },
      { do: 'block', task: 1, claim: 1, request: 'x', kind: 'dependency', on: 2 },
    ]);
  });

  it('puts a terminal task, a stale version and an unknown reference before a cycle', async () => {
    const tasks = [task('a'), task('b', { dependsOn: on('a') }), task('c')];
    const edit = (number: number, version: number, ...keys: string[]) =>
      change({ edits: [{ task: number, version, patch: { dependsOn: on(...keys) } }] });
    await play({}, tasks, [
      edit(1, 2, 'b'),
      edit(1, 1, 'b', 'nowhere'),
      edit(1, 1, 'b'),
      change({ cancels: [{ task: 1, version: 1, cascade: false }] }),
      edit(1, 2, 'b'),
    ]);
  });

  it('answers a repeated block though its edge would close a cycle by now', async () => {
    const block: Call = { do: 'block', task: 1, claim: 1, request: 'x', kind: 'dependency', on: 2 };
    const edit = (number: number, version: number, ...keys: string[]) =>
      change({ edits: [{ task: number, version, patch: { dependsOn: on(...keys) } }] });
    await play({}, [task('a'), task('b')], [claim(1, 'c'), block, edit(1, 3), edit(2, 1, 'a'), block]);
  });
});

describe('repeats', () => {
  const proposal = (number: number, by: number, title: string): Call => ({
    do: 'propose',
    task: number,
    claim: by,
    request: '3/toolu_1',
    new: { title, dependsOn: [], onLost: 'hold', priority: 2, executor: 'agent' },
  });

  it('of proposals are those of one task', async () => {
    await play(
      {},
      [task('a'), task('b')],
      [
        claim(1, 'c1'),
        claim(2, 'c2'),
        proposal(1, 1, 'One'),
        proposal(2, 2, 'Two'),
        proposal(1, 1, 'One'),
        proposal(1, 1, 'Three'),
      ],
    );
  });

  it('of a claim for the next task answer the same task, and only to the same owner', async () => {
    const outside = { executor: 'external' as const };
    const next = (request: string): Call => ({ do: 'claim', owner: 'external:x1', request, lease: 'long' });
    await play(
      {},
      [task('a', outside), task('b', outside), task('c', outside)],
      [next('1'), next('1'), claim(1, '1', 'human:h1'), next('2')],
    );
  });

  it('of a change answer the whole of it, to the lead and to people apart', async () => {
    const edit = change({ request: 'r', edits: [{ task: 1, version: 1, patch: { title: 'New' } }] });
    await play(
      { lead: true },
      [task('a'), task('b', { dependsOn: on('a') })],
      [
        { do: 'claim', owner: 'lead:lead', task: 0, request: 'c', lease: 'long' },
        edit,
        edit,
        { ...edit, lead: 1 },
        change({ request: 'r', adds: [task('x')] }),
      ],
    );
  });
});

describe('lost dependencies', () => {
  const tasks = (onLost: 'hold' | 'cancel') => [
    task('a'),
    task('b', { dependsOn: on('a'), onLost }),
    task('c'),
  ];
  const cancel = change({ cancels: [{ task: 1, version: 1, cascade: false }] });

  it('cancel an unreachable task that is edited to ask for it', async () => {
    await play({}, tasks('hold'), [
      cancel,
      change({ edits: [{ task: 2, version: 1, patch: { onLost: 'cancel' } }] }),
      { do: 'carryOut', kind: 'lost', task: 2 },
    ]);
  });

  it('leave and announce one that is edited to hold before its turn', async () => {
    await play({}, tasks('cancel'), [
      cancel,
      change({ edits: [{ task: 2, version: 1, patch: { onLost: 'hold' } }] }),
      { do: 'carryOut', kind: 'lost', task: 2 },
      { do: 'carryOut', kind: 'lost', task: 2 },
    ]);
  });
});

describe('slices', () => {
  it('of a settled task miss nobody when a dependent before them goes', async () => {
    const behind = { dependsOn: on('a') };
    await play(
      { slice: 1 },
      [task('a'), task('b', behind), task('c', behind), task('d', behind)],
      [
        claim(1, 'c1'),
        submit(1, 1, 2, 's'),
        change({ edits: [{ task: 2, version: 1, patch: { dependsOn: [] } }] }),
        { do: 'carryOut', kind: 'settle', task: 1 },
        { do: 'carryOut', kind: 'settle', task: 1 },
        { do: 'carryOut', kind: 'settle', task: 1 },
      ],
    );
  });

  it('of a cascade miss nobody when a dependent before them goes', async () => {
    const settled: NewModelTask['dependsOn'] = [{ on: { key: 'a' }, condition: 'settled' }];
    const tasks = [
      task('a'),
      task('b', { dependsOn: settled }),
      task('c', { dependsOn: on('a') }),
      task('d', { dependsOn: on('a') }),
    ];
    await play({ slice: 1 }, tasks, [
      change({ cancels: [{ task: 1, version: 1, cascade: true }] }),
      { do: 'carryOut', kind: 'cascade', task: 1 },
      change({ edits: [{ task: 2, version: 1, patch: { dependsOn: [] } }] }),
      { do: 'carryOut', kind: 'cascade', task: 1 },
      { do: 'carryOut', kind: 'cascade', task: 1 },
    ]);
  });
});

describe('strikes', () => {
  it('of a tool that was under way are not wiped out by growth', async () => {
    const attempt = (number: number, ...entries: Extract<Call, { do: 'journal' }>['entry'][]): Call[] => [
      { do: 'claim', owner: 'sub-agent:s1', task: 1, request: `c${number}`, lease: 'short' },
      ...entries.map((entry): Call => ({ do: 'journal', task: 1, claim: number, entry })),
      { do: 'sweep' },
    ];
    await play(
      {},
      [task('a')],
      [...attempt(1, 'started'), ...attempt(2, 'reply', 'started'), ...attempt(3, 'reply'), ...attempt(4)],
    );
  });
});

describe('edits and reopened tasks', () => {
  it('replace no lead', async () => {
    await play(
      { lead: true },
      [task('a')],
      [change({ edits: [{ task: 1, version: 1, patch: { replaces: 0 } }] })],
    );
  });

  it('that failed for the harness’ reasons go on with their conversation, others begin anew', async () => {
    const fail = (by: number, request: string, failure: 'infra' | 'model'): Call => ({
      do: 'fail',
      task: 1,
      claim: by,
      request,
      class: failure,
      retryable: false,
      delay: 'none',
    });
    await play(
      {},
      [task('a'), task('b')],
      [
        claim(1, 'c1'),
        fail(1, 'f1', 'infra'),
        change({ reopens: [{ task: 1, version: 3 }] }),
        claim(1, 'c2'),
        fail(2, 'f2', 'model'),
        change({ reopens: [{ task: 1, version: 6 }] }),
        claim(1, 'c3'),
      ],
    );
  });
});

describe('the window', () => {
  it('takes no task whose time has come past the ones that fill it', async () => {
    await play(
      { maxParallel: 1 },
      [task('a'), task('b')],
      [
        claim(1, 'c1'),
        { do: 'fail', task: 1, claim: 1, request: 'f', class: 'check', retryable: true, delay: 'soon' },
        claim(2, 'c2'),
        claim(1, 'c3'),
      ],
    );
  });
});

describe('the lead', () => {
  const lead = (request: string): Call => ({
    do: 'claim',
    owner: 'lead:lead',
    task: 0,
    request,
    lease: 'long',
  });

  it('is told of in the log when its ended job is opened again', async () => {
    await play(
      { lead: true },
      [task('a')],
      [
        lead('c'),
        claim(1, 'c1'),
        submit(1, 2, 2, 's'),
        { do: 'tell', task: 0, claim: 1 },
        { do: 'finish', task: 0, claim: 1, request: 'f', waive: [] },
        change({ reopens: [{ task: 1, version: 3 }] }),
      ],
    );
  });

  it('collects the news of a pause like any other when the pause is over', async () => {
    await play(
      { lead: true, coalesce: true },
      [task('a'), task('b'), task('c')],
      [
        lead('c'),
        claim(1, 'c1'),
        { do: 'wait', task: 0, claim: 1, request: 'w1' },
        { do: 'pause', cause: 'user' },
        { do: 'block', task: 1, claim: 2, request: 'b', kind: 'needs_input' },
        { do: 'resume' },
      ],
    );
  });

  it('tells at once, when a pause is over, of everything being settled', async () => {
    await play(
      { lead: true, coalesce: true },
      [task('a')],
      [
        lead('c'),
        { do: 'wait', task: 0, claim: 1, request: 'w1' },
        { do: 'pause', cause: 'user' },
        change({ cancels: [{ task: 1, version: 1, cascade: false }] }),
        { do: 'resume' },
      ],
    );
  });
});
