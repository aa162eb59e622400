import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@crewboard/client';
import { Problem } from '@crewboard/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';

/** One API without a worker for all refusals: none of them leaves anything behind. */
let stack: LocalStack;
let outside: string;

beforeAll(async () => {
  stack = await openLocalStack({ worker: false });
  outside = await mkdtemp(join(tmpdir(), 'crewboard-outside-'));
  await writeFile(join(outside, 'file.md'), 'outside');
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(outside, { recursive: true, force: true });
});

/** What is stored of jobs: notes on queues and keys, and what a process counts, are there at once. */
async function stored(): Promise<string[]> {
  return (await stack.keys()).filter((key) => !/:(?:meta|keys:used|metrics(?::ends)?)$/.test(key));
}

async function expectRefused(body: unknown, status: number, problem: object, headers = {}): Promise<void> {
  const answer = await stack.call('POST', '/v1/jobs', body, headers);
  expect(answer).toMatchObject({ status, type: expect.stringMatching(/^application\/problem\+json/) });
  expect(Problem.parse(answer.json)).toMatchObject({ status, ...problem });
  expect(await stored()).toEqual([]);
  expect((await stack.call('GET', '/v1/jobs')).json).toEqual({ jobs: [] });
}

const FAMILY = '👨‍👩‍👧‍👦';
const said = (text: string) => ({ detail: expect.stringContaining(text) });
const invalid = (text: string) => ({ code: 'invalid_argument', retry: 'after_fix', ...said(text) });
const task = (fields: object = {}) => ({ key: 'a', title: 'A', ...fields });

describe('a job that is refused leaves nothing stored', () => {
  const bodies: [string, unknown, object][] = [
    ['none of goal, tasks and map', { title: 'x' }, invalid('at least one of goal, tasks and map')],
    ['an empty object', {}, invalid('goal')],
    ['no object', [], invalid('object')],
    ['an unknown key', { goal: 'x', gaol: 'y' }, invalid('gaol is not a field here')],
    [
      'an unknown key of a task',
      { tasks: [task({ dependson: [] })] },
      invalid('tasks[0].dependson is not a field here'),
    ],
    ['an empty list of tasks', { tasks: [] }, invalid('tasks')],
    ['a blank goal', { goal: ' \n\t' }, invalid('goal must not be blank')],
    ['a goal over 64 KB', { goal: 'g'.repeat(65_537) }, invalid('goal must be at most 65536 bytes')],
    ['a blank title', { tasks: [{ title: ' \u3000 ' }] }, invalid('tasks[0].title must not be blank')],
    [
      'a title of 300 characters',
      { goal: 'x', title: 't'.repeat(300) },
      invalid('title must be at most 200'),
    ],
    [
      'a title of 201 families',
      { tasks: [{ title: FAMILY.repeat(201) }] },
      invalid('tasks[0].title must be'),
    ],
    [
      'a title of a megabyte',
      { tasks: [{ title: FAMILY.repeat(40_000) }] },
      invalid('tasks[0].title must be'),
    ],
    [
      'instructions over 16 KB',
      { tasks: [task({ instructions: 'é'.repeat(8193) })] },
      invalid('tasks[0].instr'),
    ],
    ['an input over 64 KB', { tasks: [task({ input: ['i'.repeat(65_536)] })] }, invalid('tasks[0].input')],
    [
      'a lone surrogate in a title',
      { goal: 'x', title: 'a\ud800' },
      invalid('title must not contain a lone'),
    ],
    [
      'a lone surrogate in an input',
      { tasks: [task({ input: { a: '\udfff' } })] },
      invalid('tasks[0].input'),
    ],
    ['a NUL in a goal', { goal: 'a\u0000b' }, invalid('goal must not contain a lone surrogate or NUL')],
    ['a NUL in a key', { tasks: [{ key: '\u0000', title: 'A' }] }, invalid('tasks[0].key')],
    ['a relative workspace', { goal: 'x', workspace: { path: 'docs' } }, invalid('must be absolute')],
    ['tools without a workspace', { goal: 'x', tools: ['read_file'] }, invalid('tools need a workspace')],
    ['maxParallel 0', { goal: 'x', limits: { maxParallel: 0 } }, invalid('limits.maxParallel')],
    ['a project name with capitals', { goal: 'x', project: 'Mine' }, invalid('project')],
  ];
  test.each(bodies)('400: %s', async (_, body, problem) => expectRefused(body, 400, problem));

  const later: [string, unknown][] = [['models.judge', { goal: 'x', models: { judge: 'claude-opus-5-5' } }]];
  test.each(later)('400: %s, which this version does not carry out', async (field, body) => {
    await expectRefused(body, 400, { ...invalid(`${field} is not supported`), path: field });
  });

  const graphs: [string, object[], string, object][] = [
    ['a task that needs itself', [task({ dependsOn: ['a'] })], 'dependency_cycle', { cycle: ['a', 'a'] }],
    [
      'a cycle of three behind a fourth',
      [
        { key: 'd', title: 'D', dependsOn: ['a'] },
        task({ dependsOn: ['b'] }),
        { key: 'b', title: 'B', dependsOn: [{ task: 'c', condition: 'settled' }] },
        { key: 'c', title: 'C', dependsOn: ['a'] },
      ],
      'dependency_cycle',
      { cycle: ['a', 'b', 'c', 'a'], ...said('a -> b -> c -> a') },
    ],
    ['an unknown dependency', [task({ dependsOn: ['b'] })], 'unknown_dependency', said('tasks[0] names "b"')],
    ['an unknown parent', [task({ parent: 'b' })], 'unknown_dependency', said('tasks[0] names "b"')],
    [
      'an unknown task to replace',
      [task({ replaces: 'b' })],
      'unknown_dependency',
      said('tasks[0] names "b"'),
    ],
  ];
  test.each(graphs)('422: %s', async (_, tasks, code, problem) => {
    await expectRefused({ tasks }, 422, { code, ...problem });
  });

  test('409: a key twice', () =>
    expectRefused({ tasks: [task(), task()] }, 409, { code: 'duplicate_key', ...said('"a"') }));

  test('422: 10,001 tasks where maxTasks is 10,000', async () => {
    const tasks = Array.from({ length: 10_001 }, (_, i) => ({ title: `Task ${i}` }));
    await expectRefused({ tasks }, 422, { code: 'limit_exceeded', ...said('limits.maxTasks is 10000') });
  });

  test('413: a body of 5 MB, with the limit', () =>
    expectRefused({ goal: 'x'.repeat(5_000_000) }, 413, {
      code: 'payload_too_large',
      limitBytes: 4_194_304,
    }));

  const places: [string, () => string, number, object][] = [
    ['outside the roots', () => outside, 403, { code: 'forbidden' }],
    ['that is missing outside', () => join(outside, 'none'), 403, { code: 'forbidden' }],
    ['above a root', () => join(EXAMPLES, '..'), 403, { code: 'forbidden' }],
    ['that climbs out', () => `${EXAMPLES}/docs/../../packages`, 403, { code: 'forbidden' }],
    ['that is missing inside', () => join(EXAMPLES, 'none'), 400, invalid('does not exist')],
    ['that is a file', () => join(EXAMPLES, 'docs-review.json'), 400, invalid('is not a folder')],
  ];
  test.each(places)('a workspace %s', (_, path, status, problem) =>
    expectRefused({ goal: 'x', workspace: { path: path() } }, status, problem),
  );

  const wire: [string, string, number, object, Record<string, string>][] = [
    ['half a JSON', '{"goal": "x', 400, invalid('not valid JSON'), {}],
    ['an empty body', '', 400, invalid('The body'), {}],
    ['__proto__', '{"goal":"x","__proto__":{"title":"y"}}', 400, invalid('a member "__proto__"'), {}],
    [
      'a form',
      'goal=x',
      415,
      { code: 'unsupported_media_type' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['plain text', '{"goal":"x"}', 415, { code: 'unsupported_media_type' }, { 'content-type': 'text/plain' }],
    [
      'an Idempotency-Key with a blank',
      '{"goal":"x"}',
      400,
      invalid('idempotency-key'),
      { 'idempotency-key': 'a b' },
    ],
    [
      'lists a million deep',
      `{"tasks":[{"title":"A","input":${'['.repeat(1e6)}${']'.repeat(1e6)}}]}`,
      400,
      invalid(''),
      {},
    ],
  ];
  test.each(wire)('on the wire: %s', (_, body, status, problem, headers) =>
    expectRefused(body, status, problem, headers),
  );
});

test('a link in a root that leads out of it is no workspace', async () => {
  await using linked = await openLocalStack({ worker: false, workspaces: [outside] });
  await symlink('/', join(outside, 'root'));
  const answer = await linked.call('POST', '/v1/jobs', {
    goal: 'x',
    workspace: { path: join(outside, 'root/etc') },
  });
  expect(answer.json).toMatchObject({ code: 'forbidden' });
});

test('a title of exactly 200 characters is accepted, also of joined emoji, and comes back as it was', async () => {
  await using own = await openLocalStack({ worker: false });
  const title = FAMILY.repeat(200);
  const { id } = await own.client.jobs.submit({ title, tasks: [{ title, key: 'файл 1: "a:b"' }] });
  expect((await own.client.jobs.get(id)).title).toBe(title);
  expect((await own.client.tasks.list(id)).tasks).toMatchObject([{ title, key: 'файл 1: "a:b"' }]);
});

describe('Idempotency-Key', () => {
  const body = {
    tasks: [
      { key: 'a', title: 'A' },
      { title: 'B', dependsOn: ['a'] },
    ],
  };
  const options = { idempotencyKey: 'order-4711' };

  test('20 times the same key and body at once are one job and one answer', async () => {
    await using own = await openLocalStack();
    const clients: Client[] = Array.from({ length: 20 }, () =>
      createClient({ baseUrl: own.url, apiKey: API_KEY }),
    );
    const answers = await Promise.all(clients.map((client) => client.jobs.submit(body, options)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { jobs } = await own.client.jobs.list();
    expect(jobs).toMatchObject([{ id: answers[0]?.id, counts: { total: 2 } }]);
    expect(await own.client.jobs.submit(body, options)).toEqual(answers[0]);
    const boards = (await own.keys()).filter((key) => key.endsWith(':job'));
    expect(boards).toHaveLength(1);
  });

  test('the same body is the same with the project that a key is of named or left out', async () => {
    await using own = await openLocalStack({ worker: false });
    const first = await own.client.jobs.submit(body, options);
    expect(await own.client.jobs.submit({ ...body, project: 'default' }, options)).toEqual(first);
  });

  test('another body under the same key is refused, also while the first is on its way', async () => {
    await using own = await openLocalStack({ worker: false });
    const others = Array.from({ length: 5 }, (_, i) => ({ tasks: [{ title: `Other ${i}` }] }));
    const answers = await Promise.all(
      [body, ...others].map((each) =>
        own.call('POST', '/v1/jobs', each, { 'idempotency-key': options.idempotencyKey }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 422, 422, 422, 422, 422]);
    const refused = answers.filter(({ status }) => status === 422);
    for (const { json } of refused) expect(json).toMatchObject({ code: 'idempotency_mismatch' });
    expect((await own.client.jobs.list()).jobs).toHaveLength(1);
  });
});
