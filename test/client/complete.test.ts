import { routeTable } from '@crewboard/api';
import { createClient } from '@crewboard/client';
import { expect, test } from 'vitest';
import { fakeService } from '../api/fake-service.ts';
import { JOB_ID, TASK_ID } from '../api/records.ts';

const routes = routeTable(fakeService().service)
  .filter(({ path }) => path.startsWith('/v1/'))
  .map(({ method, path }) => ({
    name: `${method} ${path}`,
    pattern: new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`),
  }));

/** Every function of the client, at any depth. */
function functionsOf(part: object): ((...args: unknown[]) => unknown)[] {
  return Object.values(part).flatMap((value: unknown) => {
    if (typeof value === 'function') return [(...args: unknown[]) => value(...args)];
    return typeof value === 'object' && value !== null ? functionsOf(value) : [];
  });
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** What the client sends when each of its calls is made once, answered with nothing. */
async function sentByAll(): Promise<string[]> {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: 'http://127.0.0.1:7420',
    fetch: async (input, init) => {
      sent.push(`${init?.method} ${new URL(String(input)).pathname}`);
      return new Response(null, { status: 204 });
    },
  });
  for (const call of functionsOf(client)) {
    const made = call(JOB_ID, TASK_ID, {});
    // An empty answer fits hardly any call; what was sent is all that matters.
    if (isStream(made)) for await (const _ of made) break;
    else await Promise.resolve(made).catch(() => {});
  }
  return sent;
}

test('has a call for every route of the API, and none for what is not there', async () => {
  const sent = await sentByAll();
  const unused = routes.filter(({ pattern }) => !sent.some((request) => pattern.test(request)));
  expect(unused.map(({ name }) => name)).toEqual([]);
  const unknown = sent.filter((request) => !routes.some(({ pattern }) => pattern.test(request)));
  expect(unknown).toEqual(['GET /readyz']);
});
