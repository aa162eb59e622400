import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openRealApp } from './open-real-app.ts';

/** A job with tasks a, b, c for outside, and one that was proposed by the holder of c. */
async function open() {
  const app = await openRealApp();
  const { boards } = app.board;
  const { jobId, ids } = await app.board.job([
    ...['a', 'b', 'c'].map((key) => ({ key, title: key.toUpperCase(), executor: 'external' as const })),
    { key: 'built-in', title: 'Built-in' },
  ]);
  const { hold } = await app.board.claim(jobId, ids['built-in'] ?? '');
  const by = { kind: 'sub-agent', id: 's' } as const;
  const proposal = await boards.propose(hold, newSecret(), { title: 'Proposed' }, by, 3);
  const id = (key: string) => ids[key] ?? '';
  return {
    app,
    jobId,
    id,
    proposal: proposal.taskId,
    task: (key: string) => boards.task(jobId, id(key)),
    patch: (key: string, body: object) => app.send('PATCH', `/${jobId}/tasks/${id(key)}`, body),
    add: (...tasks: object[]) =>
      app.send('POST', `/${jobId}/tasks`, {
        tasks: tasks.map((task) => ({ executor: 'external', ...task })),
      }),
    async state() {
      const { tasks, asOf } = await boards.page(jobId, { after: 0, limit: 100, full: true });
      return { tasks, asOf };
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe.each(['parent', 'replaces'] as const)('%s', (field) => {
  it('is changed by key or ID and taken away by null', async () => {
    await using at = await open();
    expect((await at.patch('a', { version: 1, [field]: 'b' })).body).toMatchObject({
      version: 2,
      [field]: at.id('b'),
    });
    expect((await at.patch('a', { version: 2, [field]: at.id('c') })).body).toMatchObject({
      version: 3,
      [field]: at.id('c'),
      title: 'A',
      key: 'a',
    });
    const { status, body } = await at.patch('a', { version: 3, [field]: null });
    expect({ status, version: body.version }).toEqual({ status: 200, version: 4 });
    expect(body).not.toHaveProperty(field);
    expect(await at.task('a')).not.toHaveProperty(field);
  });

  it('stays with an edit of something else', async () => {
    await using at = await open();
    await at.patch('a', { version: 1, [field]: 'b' });
    expect((await at.patch('a', { version: 2, title: 'Other' })).body).toMatchObject({ [field]: at.id('b') });
  });

  it('that leads back to the task is refused with the path, over any number of tasks', async () => {
    await using at = await open();
    const [a, b, c] = ['a', 'b', 'c'].map(at.id);
    await at.patch('a', { version: 1, [field]: 'b' });
    await at.patch('b', { version: 1, [field]: 'c' });
    const before = await at.state();
    const cyclic = {
      status: 422,
      body: { code: 'dependency_cycle', detail: expect.stringContaining(field) },
    };
    expect(await at.patch('c', { version: 1, [field]: 'a' })).toMatchObject({
      ...cyclic,
      body: { ...cyclic.body, cycle: [c, a, b, c] },
    });
    expect(await at.patch('c', { version: 1, [field]: 'c' })).toMatchObject({
      ...cyclic,
      body: { ...cyclic.body, cycle: [c, c] },
    });
    expect(await at.state()).toEqual(before);
  });

  it('that leads back to the task inside a batch is refused with the keys', async () => {
    await using at = await open();
    const before = await at.state();
    expect(
      await at.add({ key: 'x', title: 'X', [field]: 'y' }, { key: 'y', title: 'Y', [field]: 'x' }),
    ).toMatchObject({ status: 422, body: { code: 'dependency_cycle', cycle: ['x', 'y', 'x'] } });
    expect(await at.add({ key: 'x', title: 'X', [field]: 'x' })).toMatchObject({
      status: 422,
      body: { code: 'dependency_cycle', cycle: ['x', 'x'] },
    });
    expect(await at.state()).toEqual(before);
    const job = { tasks: [{ key: 'x', title: 'X', executor: 'human', [field]: 'x' }] };
    expect(await at.app.send('POST', '', job)).toMatchObject({
      status: 422,
      body: { code: 'dependency_cycle' },
    });
  });

  it('closes no cycle when two edits come at once', async () => {
    await using at = await open();
    const answers = await Promise.all([
      at.patch('a', { version: 1, [field]: 'b' }),
      at.patch('b', { version: 1, [field]: 'a' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });

  it('that is no task is refused as such', async () => {
    await using at = await open();
    for (const reference of ['nobody', 't_zzzzzzzz', '@']) {
      expect(await at.patch('a', { version: 1, [field]: reference })).toMatchObject({
        status: 422,
        body: { code: 'unknown_dependency', reference, detail: expect.stringContaining('no task or key') },
      });
    }
  });
});

it('a dependency on a proposal is refused with the true reason, by whichever door', async () => {
  await using at = await open();
  const { proposal } = at;
  const refused = {
    status: 422,
    body: { code: 'unknown_dependency', detail: expect.stringContaining('is a proposal') },
  };
  expect(await at.add({ title: 'X', dependsOn: [proposal] })).toMatchObject(refused);
  expect(await at.patch('a', { version: 1, dependsOn: [proposal] })).toMatchObject(refused);
  const claim = await at.app.send('POST', `/${at.jobId}/tasks/claim`, { taskId: at.id('a'), owner: 'bob' });
  const { claimToken } = claim.body;
  const block = { claimToken, kind: 'dependency', reason: 'first', on: proposal };
  const blocked = await at.app.send('POST', `/${at.jobId}/tasks/${at.id('a')}/block`, block);
  expect(blocked).toMatchObject(refused);
  expect(blocked.body).not.toHaveProperty('index');
});

describe('an edit that changes nothing', () => {
  const fields: Record<string, unknown> = {
    title: 'B',
    instructions: 'Do it',
    input: { a: [1, { b: null }] },
    dependsOn: ['a', { task: 'c', condition: 'settled' }],
    onDependencyLost: 'cancel',
    acceptance: [{ id: 'x', text: 'X' }],
    policy: 'evidence',
    priority: 1,
    labels: ['l'],
    executor: 'external',
    model: 'claude-sonnet-5-5',
    limits: { maxTurns: 5 },
    parent: 'a',
    replaces: 'c',
    maxAttempts: 2,
  };

  it.each(Object.keys(fields))('of %s raises no version and writes no event', async (name) => {
    await using at = await open();
    await at.patch('b', { version: 1, ...fields });
    const before = await at.state();
    expect(await at.patch('b', { version: 2, [name]: fields[name] })).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    expect(await at.state()).toEqual(before);
  });

  it('says so for all fields at once, in another order, and by ID instead of key', async () => {
    await using at = await open();
    await at.patch('b', { version: 1, ...fields });
    const before = await at.state();
    const same = {
      ...fields,
      input: { a: [1, { b: null }] },
      dependsOn: [{ task: at.id('c'), condition: 'settled' }, at.id('a')],
      parent: at.id('a'),
    };
    expect((await at.patch('b', { version: 2, ...same })).body).toMatchObject({ version: 2 });
    expect(await at.state()).toEqual(before);
  });

  it('is refused at another version all the same', async () => {
    await using at = await open();
    await at.patch('b', { version: 1, title: 'Other' });
    expect(await at.patch('b', { version: 1, title: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 'stale_version' },
    });
  });

  it('leaves out of the log what stays in one that changes something', async () => {
    await using at = await open();
    await at.patch('b', { version: 1, title: 'B', priority: 0, parent: 'a', dependsOn: [] });
    const [event] = (await at.app.board.boards.taskEvents(at.jobId, at.id('b'), 100)).slice(-1);
    expect(event).toMatchObject({ type: 'task.edited', data: { fields: ['priority', 'parent'] } });
  });

  it('an input of null is a value, not an absent one', async () => {
    await using at = await open();
    await at.patch('b', { version: 1, input: { a: 1 } });
    expect((await at.patch('b', { version: 2, input: null })).body).toMatchObject({
      version: 3,
      input: null,
    });
    expect((await at.patch('b', { version: 3, model: 'm' })).body).toMatchObject({ model: 'm' });
    expect((await at.patch('b', { version: 4, model: null })).body).not.toHaveProperty('model');
  });

  it('null takes instructions, limits and an outputSchema away, and with it the policy that followed from it', async () => {
    await using at = await open();
    const set = { instructions: 'Do it', limits: { maxTurns: 3 }, outputSchema: { type: 'object' } };
    expect((await at.patch('b', { version: 1, ...set })).body).toMatchObject({ ...set, policy: 'checked' });
    const taken = await at.patch('b', { version: 2, instructions: null, limits: null, outputSchema: null });
    expect(taken.body).toMatchObject({ version: 3, policy: 'none' });
    for (const name of Object.keys(set)) expect(taken.body).not.toHaveProperty(name);
    const [event] = (await at.app.board.boards.taskEvents(at.jobId, at.id('b'), 100)).slice(-1);
    expect(event).toMatchObject({
      type: 'task.edited',
      data: { fields: expect.arrayContaining(Object.keys(set)) },
    });
  });
});

describe('a refusal of a single change', () => {
  it('names no place in a batch', async () => {
    await using at = await open();
    const refusals = await Promise.all([
      at.patch('a', { version: 9, title: 'X' }),
      at.patch('a', { version: 1, dependsOn: ['nobody'] }),
      at.patch('a', { version: 1, dependsOn: ['a'] }),
      ...['cancel', 'reopen', 'unblock'].map((action) =>
        at.app.send('POST', `/${at.jobId}/tasks/${at.id('a')}/${action}`, { version: 9 }),
      ),
    ]);
    for (const { status, body } of refusals) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(body).not.toHaveProperty('index');
    }
  });

  it('tells each changed field once, with who changed it last', async () => {
    await using at = await open();
    for (let version = 1; version <= 40; version++) {
      await at.patch('a', { version, title: `T${version}`, ...(version === 3 && { priority: 0 }) });
    }
    const { body } = await at.patch('a', { version: 1, title: 'X' });
    expect(body.changedSince).toEqual([
      { field: 'title', version: 41, by: 'admin', at: expect.any(String) },
      { field: 'priority', version: 4, by: 'admin', at: expect.any(String) },
    ]);
  });
});

describe('a dependency that is named twice', () => {
  it('with two conditions is refused where it stands the second time, also in an edit and a new job', async () => {
    await using at = await open();
    const before = await at.state();
    const dependsOn = ['b', 'a', { task: 'b', condition: 'settled' }];
    const refused = (path: string) => ({
      status: 400,
      body: { code: 'invalid_argument', path, detail: expect.stringContaining('"b" a second time') },
    });
    expect(await at.add({ title: 'D', dependsOn })).toMatchObject(refused('tasks[0].dependsOn[2]'));
    expect(await at.patch('c', { version: 1, dependsOn })).toMatchObject(refused('dependsOn[2]'));
    const tasks = [
      { title: 'A', key: 'a' },
      { title: 'B', key: 'b' },
      { title: 'D', dependsOn },
    ];
    expect(await at.app.send('POST', '', { tasks })).toMatchObject(refused('tasks[2].dependsOn[2]'));
    expect(await at.state()).toEqual(before);
  });

  it('by key and by ID with two conditions is refused as well', async () => {
    await using at = await open();
    const before = await at.state();
    const dependsOn = [at.id('b'), { task: 'b', condition: 'settled' }];
    expect(await at.add({ title: 'D' }, { title: 'E', dependsOn })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', path: 'tasks[1].dependsOn', reference: 'b' },
    });
    expect(await at.patch('a', { version: 1, dependsOn })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', path: 'dependsOn', reference: 'b' },
    });
    expect(await at.state()).toEqual(before);
  });

  it('in the same way is one dependency', async () => {
    await using at = await open();
    const dependsOn = ['b', at.id('b'), { task: 'b', condition: 'completed' }];
    expect((await at.patch('a', { version: 1, dependsOn })).body).toMatchObject({
      dependsOn: [{ task: at.id('b'), condition: 'completed' }],
    });
  });
});

it('"dependsOn" of a task in progress or in review is named as what can not be changed now', async () => {
  await using at = await open();
  const { boards } = at.app.board;
  const refusedAt = async (version: number, status: string) =>
    expect((await at.patch('a', { version, dependsOn: ['b'], title: 'New' })).body).toMatchObject({
      code: 'invalid_transition',
      path: 'dependsOn',
      detail: `"dependsOn" of task #1 ${at.id('a')} can't be changed now, for it is ${status}. The rest of it can. Nothing was changed.`,
    });
  await at.patch('a', { version: 1, policy: 'approved' });
  const claim = { taskId: at.id('a'), owner: 'bob' };
  const { body } = await at.app.send('POST', `/${at.jobId}/tasks/claim`, claim);
  const hold = { jobId: at.jobId, taskId: at.id('a'), token: String(body.claimToken) };
  await refusedAt(3, 'in_progress');
  const result = { summary: 'done', artifacts: [], evidence: [] };
  await boards.submit(hold, newSecret(), 3, result, 'review');
  await refusedAt(4, 'in_review');
  expect((await at.task('a')).title).toBe('A');
});
