import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { openTestRedis } from '../support/redis.ts';
import { AS_ADMIN, type OpenApp, openApp } from './open-app.ts';

const BOARD = '/admin/queues';

interface Boarded extends AsyncDisposable {
  app: OpenApp;
  queue: Queue;
}

/** Bull Board over two real queues. */
async function openBoard(): Promise<Boarded> {
  const redis = openTestRedis();
  const queues = ['crewboard.lead', 'crewboard.tasks'].map(
    (name) => new Queue(name, { connection: redis.redis, prefix: redis.prefix }),
  );
  const queue = queues[1];
  if (queue === undefined) throw new Error('no queue');
  const app = await openApp({ queues });
  return {
    app,
    queue,
    async [Symbol.asyncDispose]() {
      await app.close();
      await Promise.all(queues.map((one) => one.close()));
      await redis[Symbol.asyncDispose]();
    },
  };
}

test('shows every queue and its jobs', async () => {
  await using board = await openBoard();
  await board.queue.add('task', { v: 1, taskId: 't_abcd2345' }, { jobId: 't_abcd2345-1' });
  const answer = await board.app.raw(`${BOARD}/api/queues?activeQueue=crewboard.tasks&status=waiting`, {
    headers: AS_ADMIN,
  });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({
    queues: [
      { name: 'crewboard.lead', delimiter: '.' },
      { name: 'crewboard.tasks', jobs: [{ id: 't_abcd2345-1' }], counts: { waiting: 1 } },
    ],
  });
});

test('serves its page and every file that the page asks for', async () => {
  await using board = await openBoard();
  const page = await board.app.raw(BOARD, { headers: { ...AS_ADMIN, accept: 'text/html' } });
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  expect(page.text).not.toMatch(/(?:href|src)="(?:https?:)?\/\//);
  const files = [...page.text.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, file]) => file);
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) {
    expect((await board.app.raw(`${BOARD}/${file}`, { headers: AS_ADMIN })).status).toBe(200);
    expect((await board.app.raw(`${BOARD}/${file}`)).status).toBe(401);
  }
});

test('people pause and remove there', async () => {
  await using board = await openBoard();
  await board.queue.add('task', {}, { jobId: 't_abcd2345-1' });
  const path = `${BOARD}/api/queues/crewboard.tasks`;
  const act = (action: string) => board.app.raw(`${path}${action}`, { method: 'PUT', headers: AS_ADMIN });
  expect((await act('/pause')).status).toBe(200);
  expect(await board.queue.isPaused()).toBe(true);
  expect((await act('/t_abcd2345-1/clean')).status).toBeLessThan(300);
  expect(await board.queue.getJobCountByTypes('waiting')).toBe(0);
});

test('nobody pauses a queue without the key or from another site', async () => {
  await using board = await openBoard();
  const path = `${BOARD}/api/queues/crewboard.tasks/pause`;
  expect((await board.app.raw(path, { method: 'PUT' })).status).toBe(401);
  const foreign = { ...AS_ADMIN, origin: 'http://evil.example' };
  expect((await board.app.raw(path, { method: 'PUT', headers: foreign })).status).toBe(403);
  expect(await board.queue.isPaused()).toBe(false);
});

test('its errors show no internals', async () => {
  await using board = await openBoard();
  await board.queue.add('task', {}, { jobId: 't_abcd2345-1' });
  board.queue.getJob = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:6379'));
  const answer = await board.app.raw(`${BOARD}/api/queues/crewboard.tasks/t_abcd2345-1`, {
    headers: AS_ADMIN,
  });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('10.0.0.7');
  expect(board.app.logged()).toContain('10.0.0.7');
});
