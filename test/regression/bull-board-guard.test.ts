import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';

const MOUNT = '/admin/queues';
const QUEUE = `${MOUNT}/api/queues/crewboard.sim.tasks`;

/** Paths that Bull Board serves, each as it stands. */
const PATHS = [
  MOUNT,
  `${MOUNT}/api/queues`,
  `${MOUNT}/api/queues?activeQueue=crewboard.sim.tasks`,
  `${MOUNT}/api/redis/stats`,
  `${QUEUE}/pause`,
  `${QUEUE}/resume`,
  `${QUEUE}/empty`,
  `${QUEUE}/clean/completed`,
  `${QUEUE}/retry/failed`,
  `${QUEUE}/1`,
  `${QUEUE}/1/logs`,
  `${QUEUE}/1/retry`,
  `${QUEUE}/1/clean`,
  `${QUEUE}/add`,
  `${MOUNT}/queue/crewboard.sim.tasks`,
  `${MOUNT}/static/js/main.js`,
  `${MOUNT}/static/favicon.ico`,
  `${MOUNT}/static/locales/en-US/messages.json`,
];

/** Other ways to write a path that some server, proxy or router takes for the same. */
function spellings(path: string): string[] {
  const [plain = '', query] = path.split('?');
  const rest = query === undefined ? '' : `?${query}`;
  return [
    path,
    `${plain}/${rest}`,
    `/${plain}${rest}`,
    `//${plain}${rest}`,
    `${plain.replace('/queues', '//queues')}${rest}`,
    `${plain.replace('/queues', '/./queues')}${rest}`,
    `${plain.replace('/queues', '/%2e/queues')}${rest}`,
    `${plain.replace('/queues', '/%2E%2e/admin/queues')}${rest}`,
    `/x/..${plain}${rest}`,
    `/healthz/%2e%2e${plain}${rest}`,
    `/healthz/..;${plain}${rest}`,
    `/healthz%2f..${plain}${rest}`,
    `${plain.replace('/admin', '/%61dmin')}${rest}`,
    `${plain.replace('/admin/', '/admin%2f')}${rest}`,
    `${plain.replace('/admin', '/ADMIN')}${rest}`,
    `${plain.replace('/admin/', '/admin\\')}${rest}`,
    `${plain};x=1${rest}`,
    `${plain}%00${rest}`,
    `${plain}%20${rest}`,
    `http://127.0.0.1${path}`,
  ];
}

const WITHOUT: Record<string, Record<string, string>> = {
  'no key': {},
  'a wrong key': { authorization: 'Bearer wrong-key-0123456789' },
  'Basic, with the key as password': {
    authorization: `Basic ${Buffer.from(`me:${API_KEY}`).toString('base64')}`,
  },
  'a cookie of no login': { cookie: `crewboard_session=${'x'.repeat(43)}` },
  'a cookie with the key': { cookie: `crewboard_session=${API_KEY}` },
  'a foreign Origin': { origin: 'http://evil.example' },
  'no Origin to speak of': { origin: 'null' },
  'a foreign Origin with a wrong key': {
    origin: 'http://evil.example',
    authorization: 'Bearer wrong-key-0123456789',
  },
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends exactly this path: no client tidies it up. */
async function raw(stack: LocalStack, method: string, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(stack.url);
  const sent = request({ host: hostname, port, path, method, headers, agent }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode, text, headers: answer.headers };
}

const Queues = z.object({ queues: z.array(z.object({ name: z.string(), isPaused: z.boolean() })) });

async function pausedQueues(stack: LocalStack): Promise<string[]> {
  const { json } = await stack.call('GET', `${MOUNT}/api/queues`);
  return Queues.parse(json).queues.flatMap(({ name, isPaused }) => (isPaused ? [name] : []));
}

test.each(['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'])(
  '%s is 401 on each path of Bull Board, however it is written, without a key or from a foreign page',
  { timeout: 60_000 },
  async (method) => {
    await using stack = await openLocalStack({ worker: false });
    for (const path of PATHS.flatMap(spellings)) {
      for (const [who, headers] of Object.entries(WITHOUT)) {
        const answer = await raw(stack, method, path, headers);
        expect({ method, path, who, status: answer.status }).toEqual({ method, path, who, status: 401 });
        expect(Object.keys(answer.headers).filter((name) => /^access-control/.test(name))).toEqual([]);
        expect(answer.text).not.toMatch(/Crewboard queues|crewboard\.sim\.lead/);
      }
    }
    expect(await pausedQueues(stack)).toEqual([]);
  },
);

test('a foreign page does nothing with the key or the login of an operator either', async () => {
  await using stack = await openLocalStack({ worker: false });
  const login = await fetch(`${stack.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: API_KEY }),
  });
  const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
  const proofs: Record<string, string>[] = [{ authorization: `Bearer ${API_KEY}` }, { cookie }];
  for (const proof of proofs)
    for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1'])
      for (const path of PATHS.filter((one) => !one.includes('?'))) {
        const { status, headers } = await raw(stack, 'PUT', path, { ...proof, origin });
        expect({ path, origin, status }).toEqual({ path, origin, status: 403 });
        expect(headers).not.toHaveProperty('access-control-allow-origin');
      }
  expect(await pausedQueues(stack)).toEqual([]);
  const own = { cookie, origin: stack.url };
  expect((await raw(stack, 'PUT', `${QUEUE}/pause`, own)).status).toBe(200);
  expect(await pausedQueues(stack)).toEqual(['crewboard.sim.tasks']);
});
