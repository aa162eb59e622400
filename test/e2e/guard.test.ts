import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';

/** Sends exactly this path: no client tidies it up. */
async function raw(stack: LocalStack, method: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(stack.url);
  const sent = request({ host: hostname, port, path, method, headers, agent: false }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode, text, headers: answer.headers };
}

const QUEUE = '/admin/queues/api/queues/crewboard.sim.tasks';
const SPELLINGS = [
  '/admin/queues',
  '/admin/queues/',
  '/admin/queues//',
  '//admin/queues',
  '/admin//queues/api/queues',
  '/admin/./queues',
  '/admin/../admin/queues',
  '/admin/queues/%2e%2e/queues',
  '/%61dmin/queues',
  '/admin%2fqueues',
  '/admin/%71ueues/api/queues',
  '/ADMIN/queues',
  '/admin/queues;x=1',
  '/admin/queues?x=1',
  '/admin/queues#x',
  '/admin/queues/api/queues',
  '/admin/queues/api/queues/',
  '/admin/queues/api/queues?activeQueue=crewboard.tasks&status=latest',
  `${QUEUE}/pause`,
  `${QUEUE}/empty`,
  `${QUEUE}/clean/completed`,
  `${QUEUE}/1/retry`,
  `${QUEUE}/1`,
  '/admin/queues/queue/crewboard.sim.tasks',
  '/admin/queues/static/js/main.js',
  '/admin/queues/static/%2e%2e/%2e%2e/package.json',
  '/admin/queues/nowhere',
];

const List = z.object({ queues: z.array(z.object({ name: z.string(), isPaused: z.boolean() })) });

const listQueues = async (stack: LocalStack, headers: Record<string, string>) => {
  const answer = await raw(stack, 'GET', '/admin/queues/api/queues', headers);
  expect(answer.status).toBe(200);
  return List.parse(JSON.parse(answer.text)).queues;
};

const bearer = { authorization: `Bearer ${API_KEY}` };

test('Bull Board is 401 without the key on every spelling of every path, and nothing of it happens', async () => {
  await using stack = await openLocalStack({ worker: false });
  const without: Record<string, string>[] = [
    {},
    { authorization: 'Bearer wrong-key-0123456789' },
    { authorization: `Basic ${Buffer.from(`me:${API_KEY}`).toString('base64')}` },
    { cookie: `key=${API_KEY}`, origin: 'http://evil.example' },
  ];
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE']) {
    for (const path of SPELLINGS) {
      for (const headers of without) {
        const { status, text } = await raw(stack, method, path, headers);
        expect({ method, path, headers, status }).toEqual({ method, path, headers, status: 401 });
        // The answer may name the path that was asked for, and nothing else of what is behind it.
        expect(text.replaceAll(path, '')).not.toContain('crewboard.sim');
      }
    }
  }
  expect((await listQueues(stack, bearer)).map(({ isPaused }) => isPaused)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('with the key it lists the queues of both providers, and its own buttons work', async () => {
  await using stack = await openLocalStack({ worker: false });
  const names = (await listQueues(stack, bearer)).map(({ name }) => name).sort();
  expect(names).toEqual(['crewboard.lead', 'crewboard.sim.lead', 'crewboard.sim.tasks', 'crewboard.tasks']);
  expect((await raw(stack, 'GET', '/admin/queues', bearer)).text).toContain('<title>Crewboard queues');
  expect((await raw(stack, 'PUT', `${QUEUE}/pause`, bearer)).status).toBe(200);
  const paused = (await listQueues(stack, bearer)).filter(({ isPaused }) => isPaused);
  expect(paused.map(({ name }) => name)).toEqual(['crewboard.sim.tasks']);
});

test('a job survives that its queue jobs are removed in Bull Board', async () => {
  await using stack = await openLocalStack({ variables: { CREWBOARD_LEASE_MS: '2000' } });
  expect((await raw(stack, 'PUT', `${QUEUE}/pause`, bearer)).status).toBe(200);
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }, { title: 'B' }, { title: 'C' }] });
  const ofQueue = async () =>
    (await stack.keys()).filter((key) => /:crewboard\.sim\.tasks:t_[^:]+$/.test(key)).length;
  await expect.poll(ofQueue).toBe(3);
  expect((await raw(stack, 'PUT', `${QUEUE}/empty`, bearer)).status).toBe(200);
  expect(await ofQueue()).toBe(0);
  expect((await raw(stack, 'PUT', `${QUEUE}/resume`, bearer)).status).toBe(200);
  for await (const _ of stack.client.jobs.events(id)) {
    // To its end.
  }
  expect(await stack.client.jobs.get(id)).toMatchObject({ status: 'succeeded', counts: { completed: 3 } });
});
