import { createClient } from '@crewboard/client';
import { AddTasksAnswer, BoardNoteInput, BoardPlanInput, NewTask, TaskKey } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openRealApp, type RealApp } from './open-real-app.ts';

async function open() {
  const app = await openRealApp();
  const { jobId, ids } = await app.board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const add = (...tasks: object[]) =>
    app.send('POST', `/${jobId}/tasks`, { tasks: tasks.map((task) => ({ executor: 'external', ...task })) });
  return { app, jobId, a: ids.a ?? '', add, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const totalOf = async ({ board }: RealApp, jobId: string) => (await board.boards.job(jobId)).counts.total;

describe('a key', () => {
  it.each(['t_4kx9m2ab', 'job_4kx9m2ab7ycd'])(
    'that reads like an ID (%s) is refused wherever keys come in',
    async (key) => {
      await using at = await open();
      const refused = { status: 400, body: { code: 'invalid_argument', path: 'tasks[0].key' } };
      expect(await at.add({ title: 'B', key })).toMatchObject(refused);
      expect(await at.app.send('POST', '', { tasks: [{ title: 'B', key }] })).toMatchObject(refused);
      expect(BoardPlanInput.safeParse({ ops: [{ op: 'add', title: 'B', key }] }).success).toBe(false);
      expect(await totalOf(at.app, at.jobId)).toBe(1);
    },
  );

  it.each(['t_4kx9m2a', 't_4kx9m2abc', 't_0OiIl1oo', 'T_4kx9m2ab', 'job_4kx9m2ab', '@', '42', 'a:b'])(
    'such as "%s" reads like none, and references find it',
    async (key) => {
      await using at = await open();
      expect(await at.add({ title: 'B', key })).toMatchObject({ status: 201 });
      const added = await at.add({ title: 'C', dependsOn: [key], parent: key });
      expect(added).toMatchObject({ status: 201 });
      const { tasks } = await at.app.board.boards.page(at.jobId, { after: 1, limit: 2 });
      expect(tasks[1]).toMatchObject({ parent: tasks[0]?.id, dependsOn: [{ task: tasks[0]?.id }] });
    },
  );

  it('that a board has had since before is still read', () => {
    expect(TaskKey.safeParse('t_4kx9m2ab').success).toBe(true);
    expect(NewTask.safeParse({ title: 'B', key: 't_4kx9m2ab' }).success).toBe(false);
  });

  it('"__proto__" stands in `created` like any other, in the answer and in the client', async () => {
    await using at = await open();
    const keys = ['__proto__', 'constructor', 'toString'];
    const { status, body } = await at.add(...keys.map((key) => ({ title: key, key })));
    expect(status).toBe(201);
    const { created, tasks } = AddTasksAnswer.parse(body);
    expect(Object.entries(created)).toEqual(keys.map((key, i) => [key, tasks[i]?.taskId]));
    const client = createClient({
      baseUrl: 'http://127.0.0.1',
      fetch: async () => new Response(JSON.stringify(body), { status: 201 }),
    });
    const again = await client.tasks.add(at.jobId, [{ title: 'x' }]);
    expect(Object.keys(again.created)).toEqual(keys);
  });
});

describe('a title', () => {
  const names: [string, string][] = [
    ['U+200B', '\u200b\u200b'],
    ['U+2800', '\u2800'],
    ['U+202E', '\u202e'],
    ['U+0007', '\u0007'],
    ['U+FEFF', '\ufeff'],
    ['U+3164', '\u3164'],
    ['U+00A0 and a tab', '\u00a0\t'],
    ['a joiner and a variation mark', '\u200d\ufe0f'],
  ];
  it.each(names)('of nothing but %s is blank, and so are other required texts', async (_, blank) => {
    await using at = await open();
    expect(await at.add({ title: blank })).toMatchObject({ status: 400, body: { path: 'tasks[0].title' } });
    expect(await at.add({ title: 'B', key: blank })).toMatchObject({ status: 400 });
    expect(await at.add({ title: 'B', labels: [blank] })).toMatchObject({ status: 400 });
    const edit = { version: 1, title: blank };
    expect(await at.app.send('PATCH', `/${at.jobId}/tasks/${at.a}`, edit)).toMatchObject({ status: 400 });
    for (const [field, note] of [
      ['text', { text: blank }],
      ['progress', { text: 'n', progress: blank }],
    ] as const) {
      const refused = { status: 400, body: { code: 'invalid_argument', path: field } };
      expect(await at.app.send('POST', `/${at.jobId}/tasks/${at.a}/note`, note)).toMatchObject(refused);
      expect(BoardNoteInput.safeParse({ taskId: at.a, ...note }).success).toBe(false);
    }
  });

  it.each(['x\u200b', '\u202eabc', '👩‍👩‍👧', '文', '-', '\u0301e'])(
    'with something to see is none: %j',
    async (title) => {
      await using at = await open();
      expect(await at.add({ title })).toMatchObject({ status: 201 });
    },
  );
});

describe('more than a call may add', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `T${i}` }));

  it('is limit_exceeded with the counts, and nothing is added', async () => {
    await using at = await open();
    expect(await at.add(...many(1001))).toMatchObject({
      status: 422,
      body: { code: 'limit_exceeded', changes: 1001, most: 1000 },
    });
    expect(await totalOf(at.app, at.jobId)).toBe(1);
    expect(await at.add(...many(1000))).toMatchObject({ status: 201 });
  });

  it('is limit_exceeded for a job, too', async () => {
    await using at = await open();
    const tasks = many(11).map((task) => ({ ...task, executor: 'external' }));
    expect(await at.app.send('POST', '', { tasks, limits: { maxTasks: 10 } })).toMatchObject({
      status: 422,
      body: { code: 'limit_exceeded', tasks: 11, most: 10 },
    });
  });
});

describe('JSON with a member of a special name', () => {
  async function submitOutput(app: RealApp, jobId: string, taskId: string, output: string) {
    const { body } = await app.send('POST', `/${jobId}/tasks/claim`, { taskId, owner: 'bob' });
    const base = JSON.stringify({ claimToken: body.claimToken, version: 2, summary: 'done' }).slice(0, -1);
    return app.sendText('POST', `/${jobId}/tasks/${taskId}/submit`, `${base},"output":${output}}`);
  }

  it('"__proto__" is refused with the true reason, at any depth and however it is written', async () => {
    for (const output of ['{"__proto__":{}}', '[{"a":{"__proto__":1}}]', '{"\\u005f_proto__":{}}']) {
      await using at = await open();
      const { status, body } = await submitOutput(at.app, at.jobId, at.a, output);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_argument' });
      expect(body.detail).toContain('"__proto__"');
      expect(body.detail).not.toContain('not valid JSON');
    }
  });

  it('"constructor" is data like any other', async () => {
    await using at = await open();
    const output = '{"constructor":{"prototype":{"a":1}},"prototype":2}';
    const { status } = await submitOutput(at.app, at.jobId, at.a, output);
    expect(status).toBe(200);
    const { body } = await at.app.send('GET', `/${at.jobId}/tasks/${at.a}`);
    expect(body.result).toMatchObject({ output: JSON.parse(output) });
  });

  it('is told from what is no JSON', async () => {
    await using at = await open();
    const { body } = await submitOutput(at.app, at.jobId, at.a, '{"__proto__":');
    expect(body.detail).toContain('not valid JSON');
  });
});
