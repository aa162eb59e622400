import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { z } from 'zod';
import { API_KEY, type LocalStack } from '../support/local-stack.ts';

/** Everybody who may come: what he is to the job that is asked for. */
export const CALLERS = [
  'operator',
  'admin of all',
  'reader of all',
  'worker of all',
  'own admin',
  'own submitter',
  'own reader',
  'own worker',
  'own admin, logged in',
  'foreign admin',
  'foreign submitter',
  'foreign reader',
  'foreign worker',
  'foreign admin, logged in',
  'no key',
  'a wrong key',
  'a revoked key',
  'a login whose key is revoked',
] as const;
export type Caller = (typeof CALLERS)[number];

export interface Registered {
  method: string;
  url: string;
}

/** Collects what an application registers while it is built: its own routes, its plugins', HEAD and OPTIONS. */
export function collectRoutes() {
  const routes: Registered[] = [];
  const Initialized = z.object({ fastify: z.custom<FastifyInstance>() });
  const listen = (message: unknown) => {
    Initialized.parse(message).fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push({ method: one, url });
    });
  };
  subscribe('fastify.initialization', listen);
  return {
    routes,
    [Symbol.dispose]: () => void unsubscribe('fastify.initialization', listen),
  };
}

const Problem = z.object({ code: z.string(), detail: z.string() });
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

export interface Answer {
  status: number;
  /** Of a problem, as far as it has words. */
  code: string;
  detail: string;
  headers: IncomingMessage['headers'];
}

/** One request; of an answer that goes on only its beginning is waited for. */
export async function send(
  stack: LocalStack,
  { method, path, headers, body }: { method: string; path: string; headers: object; body?: unknown },
): Promise<Answer> {
  const { hostname, port } = new URL(stack.url);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = request({
    host: hostname,
    port,
    path,
    method,
    agent,
    headers: {
      ...headers,
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    },
  }).end(text);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  const status = answer.statusCode ?? 0;
  if (answer.headers['content-type']?.startsWith('text/event-stream')) {
    answer.destroy();
    return { status, code: '', detail: '', headers: answer.headers };
  }
  const said = Buffer.concat(await answer.toArray()).toString();
  const isProblem = answer.headers['content-type']?.startsWith('application/problem+json') && said !== '';
  const problem = isProblem ? Problem.parse(JSON.parse(said)) : { code: '', detail: '' };
  return { status, ...problem, headers: answer.headers };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Logs in by the form. Returns the headers that a browser sends from then on. */
async function logIn(stack: LocalStack, key: string) {
  const answer = await fetch(`${stack.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key }),
  });
  expect(answer.status).toBe(303);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { cookie, origin: stack.url };
}

export async function headersOfAll(stack: LocalStack): Promise<Record<Caller, object>> {
  const create = async (name: string, role: 'admin' | 'submit' | 'read' | 'worker', project: string) => {
    const { id, key = '' } = await stack.client.keys.create({ name, role, project });
    return { id, key };
  };
  const of = async (...given: Parameters<typeof create>) => bearer((await create(...given)).key);
  const [own, foreign, gone] = [
    await create('own admin', 'admin', 'default'),
    await create('foreign admin', 'admin', 'other'),
    await create('gone', 'admin', '*'),
  ];
  const login = await logIn(stack, gone.key);
  await stack.client.keys.revoke(gone.id);
  return {
    operator: bearer(API_KEY),
    'admin of all': await of('admin of all', 'admin', '*'),
    'reader of all': await of('reader of all', 'read', '*'),
    'worker of all': await of('worker of all', 'worker', '*'),
    'own admin': bearer(own.key),
    'own submitter': await of('own submitter', 'submit', 'default'),
    'own reader': await of('own reader', 'read', 'default'),
    'own worker': await of('own worker', 'worker', 'default'),
    'own admin, logged in': await logIn(stack, own.key),
    'foreign admin': bearer(foreign.key),
    'foreign submitter': await of('foreign submitter', 'submit', 'other'),
    'foreign reader': await of('foreign reader', 'read', 'other'),
    'foreign worker': await of('foreign worker', 'worker', 'other'),
    'foreign admin, logged in': await logIn(stack, foreign.key),
    'no key': {},
    'a wrong key': bearer(`${own.key.slice(0, -1)}${own.key.endsWith('A') ? 'B' : 'A'}`),
    'a revoked key': bearer(gone.key),
    'a login whose key is revoked': login,
  };
}
