import { routeTable } from '@crewboard/api';
import { expect, test } from 'vitest';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  type Answer,
  CALLERS,
  type Caller,
  collectRoutes,
  headersOfAll,
  type Registered,
  send,
} from './all-callers.ts';
import { fakeService } from './fake-service.ts';

const STRANGERS: readonly Caller[] = [
  'no key',
  'a wrong key',
  'a revoked key',
  'a login whose key is revoked',
];
const KNOWN = CALLERS.filter((caller) => !STRANGERS.includes(caller));
const OPERATORS: readonly Caller[] = ['operator', 'admin of all'];
const ADMINS = KNOWN.filter((caller) => caller === 'operator' || caller.includes('admin'));

/** Who may use a route, by what it is for. */
const MAY = {
  everybody: CALLERS,
  'any key': KNOWN,
  read: KNOWN,
  submit: [...ADMINS, 'own submitter', 'foreign submitter'],
  work: [...ADMINS, 'worker of all', 'own worker', 'foreign worker'],
  'all projects': KNOWN.filter((caller) => caller === 'operator' || caller.endsWith('of all')),
  operate: OPERATORS,
} as const satisfies Record<string, readonly Caller[]>;
type Need = keyof typeof MAY;

/**
 * Every route and what it needs. A new route is one line here. What has `:id` below `/v1/jobs` is about a job, which keys
 * of another project must not find. HEAD needs what GET needs; other methods of these paths are 405 for whoever may know
 * of them: for everybody where some method is.
 */
const ROUTES: Record<string, Need> = {
  'GET /healthz': 'everybody',
  'GET /readyz': 'everybody',
  'GET /openapi.json': 'any key',
  'GET /metrics': 'all projects',
  'GET /docs': 'any key',
  'GET /docs/start.js': 'any key',
  'GET /docs/swagger-ui-bundle.js': 'any key',
  'GET /docs/swagger-ui.css': 'any key',
  'GET /login': 'everybody',
  'POST /login': 'everybody',
  'POST /logout': 'everybody',
  'OPTIONS *': 'any key',
  'GET /v1/keys': 'operate',
  'POST /v1/keys': 'operate',
  'DELETE /v1/keys/:id': 'operate',
  'GET /v1/jobs': 'read',
  'POST /v1/jobs': 'submit',
  'GET /v1/jobs/:id': 'read',
  'PATCH /v1/jobs/:id': 'submit',
  'DELETE /v1/jobs/:id': 'submit',
  'POST /v1/jobs/:id/cancel': 'submit',
  'POST /v1/jobs/:id/pause': 'submit',
  'POST /v1/jobs/:id/resume': 'submit',
  'POST /v1/jobs/:id/start': 'submit',
  'POST /v1/jobs/:id/rerun': 'submit',
  'POST /v1/jobs/:id/messages': 'submit',
  'POST /v1/jobs/:id/plan/approve': 'submit',
  'POST /v1/jobs/:id/plan/reject': 'submit',
  'GET /v1/jobs/:id/result': 'read',
  'GET /v1/jobs/:id/results.jsonl': 'read',
  'GET /v1/jobs/:id/events': 'read',
  'GET /v1/jobs/:id/transcript': 'read',
  'GET /v1/jobs/:id/artifacts': 'read',
  'GET /v1/jobs/:id/artifacts/*': 'read',
  'GET /v1/jobs/:id/tasks': 'read',
  'POST /v1/jobs/:id/tasks': 'submit',
  'POST /v1/jobs/:id/tasks/claim': 'work',
  'GET /v1/jobs/:id/tasks/:taskId': 'read',
  'PATCH /v1/jobs/:id/tasks/:taskId': 'submit',
  'GET /v1/jobs/:id/tasks/:taskId/attempts': 'read',
  'GET /v1/jobs/:id/tasks/:taskId/transcript': 'read',
  'GET /v1/jobs/:id/tasks/:taskId/why': 'read',
  'POST /v1/jobs/:id/tasks/:taskId/unblock': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/approve': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/reject': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/cancel': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/reopen': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/retry': 'submit',
  'POST /v1/jobs/:id/tasks/:taskId/heartbeat': 'work',
  'POST /v1/jobs/:id/tasks/:taskId/note': 'work',
  'POST /v1/jobs/:id/tasks/:taskId/submit': 'work',
  'POST /v1/jobs/:id/tasks/:taskId/block': 'work',
  'POST /v1/jobs/:id/tasks/:taskId/fail': 'work',
  'POST /v1/jobs/:id/tasks/:taskId/release': 'work',
};

/** Folders whose routes are a library's: all that is below them needs the same. */
const FOLDERS: Record<string, Need> = { '/admin/queues': 'operate' };

/** A HEAD of these would have to run them to their end: it is another method. */
const STREAMS = ['/v1/jobs/:id/events', '/v1/jobs/:id/results.jsonl'];

/** Bodies that say more than the route's own example: nothing in them may be refused by itself. */
const BODIES: Record<string, unknown> = {
  'POST /v1/jobs': { tasks: [{ title: 'By hand', executor: 'external' }] },
};

const examples = new Map(
  routeTable(fakeService().service).map(({ method, path, example }) => [`${method} ${path}`, example]),
);

/** A request of a route, for a job that nothing was done to yet. */
async function requestOf(stack: LocalStack, { method, url }: Registered) {
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'By hand', executor: 'external' }] });
  const { tasks } = await stack.client.tasks.list(id);
  const path = url
    .replace(/^\/v1\/keys\/:id/, '/v1/keys/key_zzzzzzzzzzzz')
    .replace(':id', id)
    .replace(':taskId', tasks[0]?.id ?? '')
    .replace(':queueName', 'crewboard.tasks')
    .replace(/:\w+/g, 'x')
    .replace('*', 'nowhere.txt');
  const name = `${method} ${url}`;
  return { method, path: path.startsWith('/') ? path : `/${path}`, body: BODIES[name] ?? examples.get(name) };
}

const folderOf = (url: string) =>
  Object.keys(FOLDERS).find((path) => url === path || url.startsWith(`${path}/`));

function needOf({ method, url }: Registered): Need | 'other method' | undefined {
  const folder = folderOf(url);
  if (folder !== undefined) return FOLDERS[folder];
  const own = ROUTES[`${method === 'HEAD' ? 'GET' : method} ${url}`];
  if (own !== undefined && !(method === 'HEAD' && STREAMS.includes(url))) return own;
  const isKnown = Object.keys(ROUTES).some((name) => name.endsWith(` ${url}`));
  return isKnown ? 'other method' : undefined;
}

/** What has to come of it, in one word a caller. */
function expectedOf(caller: Caller, need: Need, url: string): string {
  const may: readonly Caller[] = MAY[need];
  if (STRANGERS.includes(caller)) return may.includes(caller) ? 'in' : 'unauthorized';
  if (!may.includes(caller)) return 'forbidden';
  return url.startsWith('/v1/jobs/:id') && caller.startsWith('foreign') ? 'no such job' : 'in';
}

function outcomeOf({ status, code, detail }: Answer): string {
  if (status === 401) return 'unauthorized';
  // Other refusals of this status, such as that of a foreign claim token, come after the door.
  if (status === 403 && code === 'forbidden') return 'forbidden';
  if (status === 405) return 'other method';
  if (status === 404 && detail.startsWith('no such job')) return 'no such job';
  return 'in';
}

async function openMatrix() {
  using collected = collectRoutes();
  const stack = await openLocalStack({
    worker: false,
    variables: { CREWBOARD_CORS_ORIGINS: 'https://crew.example' },
  });
  const unique = new Map(collected.routes.map((route) => [`${route.method} ${route.url}`, route]));
  return { stack, routes: [...unique.values()] };
}

test('every route is in the table, and every line of the table is a route', async () => {
  const { stack, routes } = await openMatrix();
  await using _ = stack;
  expect(routes.length).toBeGreaterThan(100);
  const missing = routes.filter((route) => needOf(route) === undefined);
  expect(
    missing.map(({ method, url }) => `${method} ${url}`),
    'these routes are new: add a line for each to ROUTES above, saying who may use it',
  ).toEqual([]);
  const names = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  expect(Object.keys(ROUTES).filter((name) => !names.has(name))).toEqual([]);
});

test('every route lets in whom it is for, and nobody else, and shows no job of another project', {
  timeout: 120_000,
}, async () => {
  const { stack, routes } = await openMatrix();
  await using _ = stack;
  const headers = await headersOfAll(stack);
  for (const route of routes) {
    const need = needOf(route);
    if (need === undefined || need === 'other method') continue;
    const given = await requestOf(stack, route);
    const outcomes: Record<string, string> = {};
    const wanted: Record<string, string> = {};
    for (const caller of CALLERS) {
      // Who logs out here is needed further on.
      const shown = route.url === '/logout' ? {} : headers[caller];
      const answer = await send(stack, { ...given, headers: shown });
      if (route.method === 'HEAD') {
        // It has no words; its GET, which is a route as well, is looked at closely.
        const { status } = await send(stack, { ...given, method: 'GET', headers: headers[caller] });
        outcomes[caller] = String(answer.status);
        wanted[caller] = String(status);
        continue;
      }
      outcomes[caller] = outcomeOf(answer);
      wanted[caller] = expectedOf(caller, need, route.url);
      // What a library makes of an odd request, once it is let in, is its own affair.
      if (wanted[caller] === 'in' && folderOf(route.url) === undefined)
        expect(answer.status).toBeLessThan(500);
    }
    const name = `${route.method} ${route.url}`;
    expect({ name, outcomes }).toEqual({ name, outcomes: wanted });
  }
});

test('other methods of a path are 405 with any key, and without one where the path needs none', {
  timeout: 60_000,
}, async () => {
  const { stack, routes } = await openMatrix();
  await using _ = stack;
  const headers = await headersOfAll(stack);
  for (const { method, url } of routes.filter((route) => needOf(route) === 'other method')) {
    // Node answers it before any application hears of it.
    if (method === 'CONNECT') continue;
    const path = url.replace(/:\w+/g, 'x').replace('*', 'x');
    for (const caller of ['no key', 'a revoked key', 'foreign reader', 'operator'] as const) {
      const { status } = await send(stack, { method, path, headers: headers[caller] });
      const isPublic = ROUTES[`GET ${url}`] === 'everybody' || ROUTES[`POST ${url}`] === 'everybody';
      const wanted = STRANGERS.includes(caller) && !isPublic ? 401 : 405;
      expect({ method, url, caller, status }).toEqual({ method, url, caller, status: wanted });
    }
  }
});

test('every path but those of a library takes no other methods than it has', {
  timeout: 60_000,
}, async () => {
  const { stack, routes } = await openMatrix();
  await using _ = stack;
  const headers = await headersOfAll(stack);
  const paths = new Set(routes.map(({ url }) => url).filter((url) => url !== '*'));
  for (const url of paths) {
    if (folderOf(url) !== undefined) continue;
    const answer = await send(stack, {
      ...(await requestOf(stack, { method: 'PUT', url })),
      headers: headers.operator,
    });
    expect({ url, status: answer.status, code: answer.code }).toEqual({
      url,
      status: 405,
      code: 'method_not_allowed',
    });
  }
});

test('a submit goes to the project of its key, and a foreign one is refused', async () => {
  await using stack = await openLocalStack({ worker: false });
  const headers = await headersOfAll(stack);
  const tasks = [{ title: 'By hand', executor: 'external' }];
  const submit = (caller: Caller, project?: string) =>
    send(stack, {
      method: 'POST',
      path: '/v1/jobs',
      headers: headers[caller],
      body: { tasks, ...(project === undefined ? {} : { project }) },
    });
  for (const [caller, project, status] of [
    ['own submitter', undefined, 202],
    ['own submitter', 'default', 202],
    ['own submitter', 'other', 403],
    ['foreign submitter', undefined, 202],
    ['foreign submitter', 'default', 403],
    ['operator', undefined, 202],
    ['operator', 'third', 202],
  ] as const)
    expect({ caller, project, status: (await submit(caller, project)).status }).toEqual({
      caller,
      project,
      status,
    });
  const { jobs } = await stack.client.jobs.list();
  expect(jobs.map(({ project }) => project).sort()).toEqual([
    'default',
    'default',
    'default',
    'other',
    'third',
  ]);
});
