import { createClient } from '@crewboard/client';
import type { BoardEvent } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, AS_ADMIN, PROJECT_ADMIN_KEY } from '../../api/open-app.ts';
import { openRealApp, type RealApp } from '../../api/open-real-app.ts';
import { drainOutbox } from '../../board/random-history.ts';
import { ANN } from '../../support/board.ts';
import { type EndedJob, endedJob } from '../../support/ended-job.ts';
import { NEVER } from '../../support/retention.ts';

/** Every read of the API, as paths below the job. */
function readsOf({ ids, refs }: EndedJob, events: readonly BoardEvent[]): string[] {
  const ofTasks = Object.values(ids).flatMap((id) =>
    ['', '/attempts', '/attempts?limit=1', '/why', '/transcript', '/transcript?limit=2&cursor=e1'].map(
      (rest) => `/tasks/${id}${rest}`,
    ),
  );
  const filters = ['', 'status=completed', 'status=cancelled', 'status=pending', 'readiness=unreachable'];
  const pages = ['', '&limit=1', '&limit=2&cursor=t2', '&limit=100'];
  const lists = [
    ...filters,
    'label=red',
    'label=red&label=big',
    'status=failed&readiness=ready',
    'key=*',
    'class=model',
  ].flatMap((filter) => pages.map((page) => `/tasks?${filter}${page}`));
  const places = [events[0]?.id, events[4]?.id, events.at(-1)?.id];
  return [
    '',
    ...lists,
    ...ofTasks,
    ...['', '?limit=3', ...places.map((id) => `?limit=2&after=${id}`)].map((query) => `/events${query}`),
    '/result',
    '/results.jsonl',
    '/artifacts',
    '/artifacts?limit=1',
    '/artifacts?limit=1&cursor=f2',
    ...Object.entries(refs)
      .flat()
      .map((name) => `/artifacts/${name}`),
    '/transcript',
    '/tasks/t_22222222',
    '/artifacts/none.txt',
    '/events?after=1-1',
  ];
}

async function read(app: RealApp, jobId: string, path: string) {
  const answer = await fetch(`${app.url}/v1/jobs/${jobId}${path}`, {
    headers: { ...AS_ADMIN, accept: 'application/json' },
  });
  return { path, status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
}

const eventsOf = (app: RealApp, jobId: string) => app.rig.boards.events(jobId, '0-0', 1000);

/** An event stream to its end. */
async function stream(app: RealApp, jobId: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${app.url}/v1/jobs/${jobId}/events`, { headers: { ...AS_ADMIN, ...headers } });
  return `${answer.status} ${await answer.text()}`;
}

async function leave(app: RealApp, jobId: string): Promise<void> {
  expect(await app.rig.retentionOf(0).removeJob(jobId, NEVER)).toBe(true);
  expect(await app.rig.keysOf(jobId)).toEqual([]);
}

describe('a job that has left Redis', () => {
  it('answers every read as it did before', { timeout: 60_000 }, async () => {
    await using app = await openRealApp();
    const job = await endedJob(app.rig);
    const events = await eventsOf(app, job.jobId);
    const paths = readsOf(job, events);
    const readAll = () => Promise.all(paths.map((path) => read(app, job.jobId, path)));
    const list = await app.send('GET', '?limit=5');
    const before = await readAll();
    const streams = async () => [
      await stream(app, job.jobId),
      await stream(app, job.jobId, { 'last-event-id': events[3]?.id ?? '' }),
      await stream(app, job.jobId, { 'last-event-id': events.at(-1)?.id ?? '' }),
      await stream(app, job.jobId, { 'last-event-id': '1-1' }),
    ];
    const streamed = await streams();

    await leave(app, job.jobId);
    expect(await readAll()).toEqual(before);
    expect(await streams()).toEqual(streamed);
    expect(await app.send('GET', '?limit=5')).toEqual(list);
    expect(before.filter(({ status }) => status === 200).length).toBeGreaterThan(50);
  });

  it('says why of each task as before: through chains, of those lost and those taken along', async () => {
    await using app = await openRealApp();
    const { board } = app.rig;
    const { boards } = board;
    const { jobId, ids } = await board.job([
      { key: 'failed', title: 'Failed' },
      { key: 'near', title: 'Near', dependsOn: ['failed'] },
      { key: 'far', title: 'Far', dependsOn: ['near'] },
      { key: 'lost', title: 'Lost', dependsOn: ['far'], onDependencyLost: 'cancel' },
      { key: 'gone', title: 'Gone', dependsOn: ['failed'], onDependencyLost: 'cancel' },
      { key: 'cancelled', title: 'Cancelled' },
      { key: 'along', title: 'Along', dependsOn: ['cancelled'] },
      { key: 'after', title: 'After', dependsOn: ['along', 'gone'] },
      { key: 'settled', title: 'Settled', dependsOn: [{ task: 'failed', condition: 'settled' }] },
    ]);
    const idOf = (key: string) => ids[key] ?? '';
    const failed = await board.claim(jobId, idOf('failed'));
    const failure = { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
    await boards.fail(failed.hold, 'f', failure);
    const cancels = [
      { taskId: idOf('cancelled'), version: 1, reason: 'not needed', dependents: 'cancel' as const },
    ];
    await boards.change(jobId, { by: ANN, cancels });
    await drainOutbox(boards, jobId);
    const settled = await board.claim(jobId, idOf('settled'));
    await boards.submit(settled.hold, 's', settled.task.version, { summary: 'done', evidence: [] });
    await drainOutbox(boards, jobId);
    const whys = () => Promise.all(Object.values(ids).map((id) => read(app, jobId, `/tasks/${id}/why`)));
    const before = await whys();
    await leave(app, jobId);
    expect(await whys()).toEqual(before);
    expect(before.every(({ status }) => status === 200)).toBe(true);
    expect(before.filter(({ body }) => body.includes('Failed')).length).toBeGreaterThan(1);
  });

  it("is another project's as before, and a job that never was stays unknown", async () => {
    await using app = await openRealApp();
    const { jobId } = await endedJob(app.rig);
    await leave(app, jobId);
    const foreign = createClient({ baseUrl: app.url, apiKey: PROJECT_ADMIN_KEY });
    await expect(foreign.jobs.get(jobId)).rejects.toMatchObject({ code: 'not_found' });
    await expect(foreign.jobs.delete(jobId)).rejects.toMatchObject({ code: 'not_found' });
    expect((await app.send('GET', '/job_222222222222')).body).toMatchObject({ code: 'not_found' });
    expect((await app.send('POST', '/job_222222222222/pause')).body).toMatchObject({ code: 'not_found' });
  });

  it('refuses every change as terminal and says what to do next', async () => {
    await using app = await openRealApp({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' });
    const { jobId, ids } = await endedJob(app.rig);
    await leave(app, jobId);
    const task = `/${jobId}/tasks/${ids.failed}`;
    const held = { claimToken: '1-secret' };
    const calls: [string, string, unknown][] = [
      ['POST', `/${jobId}/cancel`, {}],
      ['POST', `/${jobId}/pause`, {}],
      ['POST', `/${jobId}/resume`, {}],
      ['PATCH', `/${jobId}`, { version: 1, limits: { maxParallel: 2 } }],
      ['POST', `/${jobId}/messages`, { text: 'hello', target: ids.failed }],
      ['POST', `/${jobId}/plan/approve`, {}],
      ['POST', `/${jobId}/plan/reject`, {}],
      ['POST', `/${jobId}/tasks`, { tasks: [{ title: 'More' }] }],
      ['POST', `/${jobId}/tasks/claim`, { taskId: ids.behind, owner: 'ann' }],
      ['PATCH', task, { version: 3, title: 'Other' }],
      ...['approve', 'reject', 'unblock', 'cancel', 'reopen', 'retry'].map(
        (action): [string, string, unknown] => ['POST', `${task}/${action}`, { version: 3 }],
      ),
      ['POST', `${task}/heartbeat`, held],
      ['POST', `${task}/note`, { ...held, text: 'x' }],
      ['POST', `${task}/submit`, { ...held, version: 3, summary: 'x' }],
      ['POST', `${task}/block`, { ...held, kind: 'needs_input', reason: 'x' }],
      ['POST', `${task}/fail`, { ...held, reason: 'x' }],
      ['POST', `${task}/release`, held],
    ];
    for (const [method, path, body] of calls) {
      const { status, body: answer } = await app.send(method, path, body);
      expect([path, status, answer.code], JSON.stringify(answer)).toEqual([path, 409, 'terminal']);
      expect(answer).toMatchObject({
        retry: 'never',
        next: `GET /v1/jobs/${jobId}/result`,
        detail: expect.stringContaining('partial and archived'),
      });
    }
    expect(await app.rig.keysOf(jobId)).toEqual([]);
  });

  it('is followed to its end by a client that began while it was in Redis', async () => {
    await using app = await openRealApp();
    const { jobId } = await endedJob(app.rig);
    const all = await eventsOf(app, jobId);
    const client = createClient({ baseUrl: app.url, apiKey: ADMIN_KEY });
    const seen: string[] = [];
    for await (const event of client.jobs.events(jobId)) {
      if (seen.length === 0) await leave(app, jobId);
      seen.push(event.id);
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  });
});
