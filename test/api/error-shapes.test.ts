import { SubmitBody } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { openRealApp } from './open-real-app.ts';

const NOTHING = 'Nothing was changed.';
const TASK = { title: 'D', executor: 'external' };

/** Two tasks for outside, the second behind the first, and a third; what each test begins with. */
async function open(options: { allowParallelInProgress?: boolean; lead?: boolean } = {}) {
  const app = await openRealApp();
  const { jobId, ids } = await app.board.job(
    [
      { key: 'a', title: 'A', executor: 'external' },
      { key: 'b', title: 'B', executor: 'external', dependsOn: ['a'] },
      { key: 'c', title: 'C', executor: 'external' },
    ],
    options,
  );
  const [a, b, c] = [ids.a ?? '', ids.b ?? '', ids.c ?? ''];
  const claim = (taskId: string, owner = 'bob') =>
    app.send('POST', `/${jobId}/tasks/claim`, { taskId, owner });
  const act = (taskId: string, action: string, body: object) =>
    app.send('POST', `/${jobId}/tasks/${taskId}/${action}`, body);
  return { app, jobId, a, b, c, claim, act, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

it('a claim of a waiting task is told what it waits for, as the task itself says', async () => {
  await using at = await open();
  await at.claim(at.a);
  const task = await at.app.send('GET', `/${at.jobId}/tasks/${at.b}`);
  const { body } = await at.claim(at.b);
  expect(body).toMatchObject({
    code: 'not_ready',
    detail: `task #2 ${at.b} waits for #1 ${at.a} (in_progress). ${NOTHING}`,
    current: { taskId: at.b, status: 'pending', version: 1, readiness: { state: 'waiting', on: [at.a] } },
    allowed: [],
    next: `GET /v1/jobs/${at.jobId}/tasks/${at.b}/why`,
  });
  expect(body.current).toMatchObject({ readiness: task.body.readiness });
});

it('a claim of an unreachable task names the cause', async () => {
  await using at = await open();
  await at.act(at.a, 'cancel', { version: 1 });
  expect((await at.claim(at.b)).body).toMatchObject({
    code: 'not_ready',
    detail: expect.stringContaining(`because of #1 ${at.a} (cancelled)`),
    current: { readiness: { state: 'unreachable', because: [at.a] } },
  });
});

it('a stale edit of a waiting task shows its true readiness and what can be done with it', async () => {
  await using at = await open();
  expect(
    (await at.app.send('PATCH', `/${at.jobId}/tasks/${at.b}`, { version: 7, title: 'X' })).body,
  ).toMatchObject({
    code: 'stale_version',
    current: { readiness: { state: 'waiting', on: [at.a] } },
    allowed: ['edit', 'set_dependencies', 'cancel'],
    next: `GET /v1/jobs/${at.jobId}/tasks/${at.b}`,
  });
});

it('a retry of a pending task is told that only edits and cancel apply', async () => {
  await using at = await open();
  expect((await at.act(at.b, 'retry', { version: 1 })).body).toMatchObject({
    code: 'invalid_transition',
    allowed: ['edit', 'set_dependencies', 'cancel'],
    next: `GET /v1/jobs/${at.jobId}/tasks/${at.b}`,
  });
});

it('a paused task is held by the pause in errors too', async () => {
  await using at = await open();
  await at.app.send('POST', `/${at.jobId}/pause`, {});
  expect((await at.claim(at.a)).body).toMatchObject({
    code: 'board_paused',
    current: { readiness: { state: 'held', cause: 'pause' } },
    next: `GET /v1/jobs/${at.jobId}`,
  });
});

it('a second claim in a job that runs one at a time is told which task runs', async () => {
  await using at = await open({ allowParallelInProgress: false });
  await at.claim(at.a);
  expect((await at.claim(at.c)).body).toMatchObject({
    code: 'parallel_in_progress',
    detail: expect.stringContaining(at.a),
    next: `GET /v1/jobs/${at.jobId}/tasks/${at.a}`,
  });
});

it('people may read and retry the lead, and its state is shown', async () => {
  await using at = await open({ lead: true });
  const lead = (await at.app.board.boards.job(at.jobId)).lead ?? '';
  expect((await at.act(lead, 'cancel', { version: 1 })).body).toMatchObject({
    code: 'forbidden',
    detail: expect.stringContaining(NOTHING),
    current: { taskId: lead, status: 'pending', version: 1 },
    allowed: ['read'],
    next: `GET /v1/jobs/${at.jobId}/tasks/${lead}`,
  });
});

it('an attempt that is over is told how it ended, and where the task is now', async () => {
  await using at = await open();
  const { claimToken } = (await at.claim(at.a)).body;
  await at.act(at.a, 'submit', { claimToken, version: 2, summary: 'done' });
  expect((await at.act(at.a, 'note', { claimToken, text: 'late' })).body).toMatchObject({
    code: 'lease_lost',
    detail: `attempt 1 of task #1 ${at.a} is over: its result was handed in, held by bob. The task is completed now. Stop working on it. ${NOTHING}`,
    next: expect.stringMatching(/tasks\/claim/),
  });
  const second = (await at.claim(at.b, 'w1')).body;
  await at.act(at.b, 'release', { claimToken: second.claimToken });
  await at.claim(at.b, 'w2');
  expect((await at.act(at.b, 'heartbeat', { claimToken: second.claimToken })).body).toMatchObject({
    detail: expect.stringContaining(
      'is over: it was given back, held by w1. The task is held by w2 now, in attempt 2.',
    ),
  });
});

it('a cycle, an ended job and a key used twice show the task that they are about', async () => {
  await using at = await open();
  const current = (taskId: string) => ({ current: { taskId, status: expect.any(String), version: 1 } });
  expect(
    (await at.app.send('PATCH', `/${at.jobId}/tasks/${at.a}`, { version: 1, dependsOn: ['b'] })).body,
  ).toMatchObject({ code: 'dependency_cycle', ...current(at.a), next: `GET /v1/jobs/${at.jobId}/tasks` });
  const keyed = (taskId: string) =>
    at.app.send('POST', `/${at.jobId}/tasks/${taskId}/cancel`, { version: 1 }, { 'idempotency-key': 'k' });
  await keyed(at.c);
  expect((await keyed(at.b)).body).toMatchObject({
    code: 'idempotency_mismatch',
    ...current(at.b),
    next: expect.stringContaining(`POST /v1/jobs/${at.jobId}/tasks/${at.b}/cancel`),
  });
  await at.app.board.boards.cancelJob(at.jobId, 'user:ann', 'enough');
  expect((await at.act(at.a, 'cancel', { version: 1 })).body).toMatchObject({
    code: 'terminal',
    ...current(at.a),
  });
});

it('missing evidence shows the task and the whole call', async () => {
  await using app = await openRealApp();
  const acceptance = [{ id: 'links', text: 'All links work' }];
  const { jobId, ids } = await app.board.job([
    { key: 'a', title: 'A', executor: 'external', policy: 'evidence', acceptance },
  ]);
  const claimed = await app.send('POST', `/${jobId}/tasks/claim`, { taskId: ids.a, owner: 'bob' });
  const { claimToken } = claimed.body;
  const body = { claimToken, version: 2, summary: 'done' };
  expect((await app.send('POST', `/${jobId}/tasks/${ids.a}/submit`, body)).body).toMatchObject({
    code: 'evidence_required',
    current: { taskId: ids.a, status: 'in_progress', version: 2 },
    allowed: expect.arrayContaining(['submit', 'release']),
    example: { version: 2, evidence: [{ acceptanceId: 'links', kind: 'statement' }] },
    next: expect.stringContaining(`POST /v1/jobs/${jobId}/tasks/${ids.a}/submit {`),
  });
});

it('names and keys of others can not write on a terminal, reorder a line or break it', async () => {
  await using at = await open();
  const evil = 'evil\u001b[2J\u202eown\ner';
  const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  await at.claim(at.a, evil);
  const answers = [
    await at.claim(at.a),
    await at.app.send('POST', `/${at.jobId}/tasks`, { tasks: [{ ...TASK, dependsOn: [evil] }] }),
    await at.app.send('POST', `/${at.jobId}/tasks`, { tasks: [1, 2].map(() => ({ ...TASK, key: evil })) }),
    await at.app.send('POST', `/${at.jobId}/tasks/claim`, { owner: 'bob', [evil]: 1 }),
    await at.app.send('GET', `/${at.jobId}/tasks/${encodeURIComponent(evil)}`),
    await at.app.send('GET', `/${at.jobId}/tasks?cursor=${encodeURIComponent(evil)}`),
  ];
  for (const { body } of answers) {
    expect(body.detail).toContain('evil');
    expect(body.detail).not.toMatch(unsafe);
    expect(body.next).not.toMatch(unsafe);
  }
});

it('every refusal of the door itself says that nothing was changed, and what to call', async () => {
  await using at = await open();
  const send = at.app.send;
  const answers = [
    await send('GET', `/${at.jobId}/tasks?limit=0`),
    await send('GET', `/${at.jobId}/tasks?status=done`),
    await send('GET', `/${at.jobId}/tasks?cursor=x`),
    await send('GET', '/nonsense'),
    await send('GET', `/${at.jobId}/nonsense`),
    await send('PUT', `/${at.jobId}`),
    await send('GET', `/${at.jobId}`, undefined, { authorization: 'Bearer wrong' }),
    await send('POST', '', { goal: 5 }),
    await send('POST', '', { goal: 'x' }, { 'content-type': 'text/plain' }),
    await send('POST', `/${at.jobId}/tasks/${at.a}/note`, {}),
  ];
  for (const { status, body } of answers) {
    expect([status, body.detail]).toEqual([status, expect.stringContaining(NOTHING)]);
    expect(body.next).toMatch(/^(GET|POST) \/v1\/jobs/);
  }
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404, 405, 401, 400, 415, 400]);
});

it('a body with a byte order mark is taken like one without', async () => {
  await using at = await open();
  const answer = await fetch(`${at.app.url}/v1/jobs/${at.jobId}/pause`, {
    method: 'POST',
    headers: { authorization: 'Bearer admin-key-0123456789', 'content-type': 'application/json' },
    body: '\ufeff{"reason": "wait"}',
  });
  expect(answer.status).toBe(200);
});

it('a holder that meets the same error three times is still advised', async () => {
  await using at = await open();
  const { claimToken } = (await at.claim(at.a)).body;
  const stale = () => at.act(at.a, 'submit', { claimToken, version: 9, summary: 'done' });
  await stale();
  await stale();
  expect((await stale()).body).toMatchObject({
    code: 'stale_version',
    loopGuard: expect.stringContaining('3 times'),
    current: { version: 2 },
    next: `GET /v1/jobs/${at.jobId}/tasks/${at.a}`,
  });
});

it('missing evidence keeps what was given; its example goes through once it says what shows it, not as it stands', async () => {
  await using app = await openRealApp();
  const acceptance = ['a', 'b', 'c'].map((id) => ({ id, text: id }));
  const { jobId, ids } = await app.board.job([
    { key: 'a', title: 'A', executor: 'external', policy: 'evidence', acceptance },
  ]);
  const { claimToken } = (await app.send('POST', `/${jobId}/tasks/claim`, { taskId: ids.a, owner: 'bob' }))
    .body;
  const submit = (body: unknown) => app.send('POST', `/${jobId}/tasks/${ids.a}/submit`, body);
  const given = { acceptanceId: 'b', kind: 'statement', text: 'seen' };
  const call = { claimToken, version: 2, summary: 'mine' };
  const { body } = await submit({ ...call, evidence: [given] });
  expect(body).toMatchObject({ code: 'evidence_required', example: { ...call, evidence: [given, {}, {}] } });
  expect(body).not.toHaveProperty('fits');
  const bad = [
    [{ acceptanceId: 'zz', kind: 'statement', text: 'x' }, 'evidence[1].acceptanceId'],
    [{ acceptanceId: 'a', kind: 'rumour', text: 'x' }, 'evidence[1].kind'],
    [{ acceptanceId: 'a', kind: 'artifact', ref: 'gone.md' }, 'evidence[1].ref'],
  ] as const;
  for (const [item, path] of bad) {
    const others = ['a', 'c'].map((id) => ({ ...given, acceptanceId: id }));
    const refused = (await submit({ ...call, evidence: [given, item, ...others] })).body;
    expect(refused).toMatchObject({ code: 'invalid_argument', path, example: call });
    expect(refused.example).toMatchObject({ evidence: expect.arrayContaining([given, ...others]) });
    expect(refused.detail).not.toContain('write_artifact');
    expect(refused.next).toMatch(/^GET /);
  }
  const unsaid = await submit(body.example);
  expect(unsaid).toMatchObject({ status: 422, body: { code: 'evidence_required' } });
  const example = SubmitBody.parse(body.example);
  const said = example.evidence?.map((item) => ({ ...item, text: 'the link check passes' }));
  expect(await submit({ ...example, evidence: said })).toMatchObject({
    status: 200,
    body: { status: 'completed' },
  });
});

it('the call after a wrong argument only reads, and its example is the own call where that was evident', async () => {
  await using at = await open();
  const { send } = at.app;
  const job = `/v1/jobs/${at.jobId}`;
  const schema = { type: 'nonsense' };
  const human = { kind: 'human', id: 'ann' };
  const answers = [
    [
      await send('POST', `/${at.jobId}/tasks`, { tasks: [{ ...TASK, outputSchema: schema }] }),
      `${job}/tasks`,
    ],
    [await send('POST', `/${at.jobId}/messages`, { text: 'hi', target: 'lead' }), `${job}/tasks`],
    [await at.act(at.a, 'cancel', {}), `${job}/tasks/${at.a}`],
    [
      await send('PATCH', `/${at.jobId}/tasks/${at.a}`, { version: 1, tilte: 'x', title: 'y' }),
      `${job}/tasks/${at.a}`,
    ],
    [await send('PATCH', `/${at.jobId}`, { version: 1, limits: {} }), job],
    [
      await send('POST', `/${at.jobId}/tasks/claim`, { taskId: at.a, owner: human, leaseMs: 5 }),
      `${job}/tasks`,
    ],
    [await send('POST', '', { goal: 5 }), '/v1/jobs'],
  ] as const;
  for (const [{ body }, path] of answers) {
    expect(body).toMatchObject({ code: 'invalid_argument', next: `GET ${path}` });
  }
  const examples = answers.map(([{ body }]) => body.example);
  expect(examples.slice(0, 6)).toEqual([
    { tasks: [{ ...TASK, outputSchema: expect.objectContaining({ type: 'object' }) }] },
    { text: 'hi', target: expect.stringMatching(/^t_/) },
    { version: 1_000_000 },
    { version: 1, title: 'y' },
    { version: 1_000_000, limits: { maxParallel: 16 } },
    { taskId: at.a, owner: human },
  ]);
  expect((await send('POST', `/${at.jobId}/tasks`, examples[0])).status).toBe(201);
  expect((await send('POST', `/${at.jobId}/tasks/claim`, examples[5])).status).toBe(200);
});

it('a requestId used for another call is to be a new one, and says what can be done', async () => {
  await using at = await open();
  const claim = (labels?: string[]) =>
    at.app.send('POST', `/${at.jobId}/tasks/claim`, {
      owner: 'bob',
      requestId: 'r',
      ...(labels && { labels }),
    });
  const { claimToken } = (await claim()).body;
  const again = (await claim(['other'])).body;
  expect(again).toMatchObject({
    code: 'idempotency_mismatch',
    current: { taskId: at.a },
    allowed: [],
    next: `POST /v1/jobs/${at.jobId}/tasks/claim with a new requestId`,
  });
  const note = (text: string) => at.act(at.a, 'note', { claimToken, requestId: 'n', text });
  await note('one');
  expect((await note('two')).body).toMatchObject({
    code: 'idempotency_mismatch',
    allowed: expect.arrayContaining(['note', 'submit']),
    next: expect.stringMatching(/ with a new requestId$/),
  });
});

it('a stale edit of a job says which limits changed since', async () => {
  await using at = await open();
  const edit = (version: number, limits: object) => at.app.send('PATCH', `/${at.jobId}`, { version, limits });
  await edit(1, { maxParallel: 3 });
  await edit(2, { maxTasks: 50 });
  const { body } = await edit(2, { maxParallel: 4 });
  expect(body).toMatchObject({
    code: 'stale_version',
    current: { version: 3 },
    changedSince: [{ field: 'limits.maxTasks', version: 3, by: expect.any(String), at: expect.any(String) }],
    next: `GET /v1/jobs/${at.jobId}`,
  });
});

it('a key twice in a batch is told where the keys are, a lost claim of an ended job where the job is', async () => {
  await using at = await open();
  const tasks = [1, 2].map(() => ({ ...TASK, key: 'k' }));
  expect((await at.app.send('POST', `/${at.jobId}/tasks`, { tasks })).body).toMatchObject({
    code: 'duplicate_key',
    next: `GET /v1/jobs/${at.jobId}/tasks`,
  });
  const { claimToken } = (await at.claim(at.a)).body;
  await at.act(at.a, 'release', { claimToken });
  await at.app.board.boards.cancelJob(at.jobId, 'user:ann', 'enough');
  expect((await at.act(at.a, 'note', { claimToken, text: 'late' })).body).toMatchObject({
    code: 'lease_lost',
    next: `GET /v1/jobs/${at.jobId}`,
  });
});
