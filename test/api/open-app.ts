import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Writable } from 'node:stream';
import { type AppDependencies, buildApp, createLogger, createSessions, fixedKeys } from '@crewboard/api';
import { openTestRedis } from '../support/redis.ts';
import { type FakeService, fakeService } from './fake-service.ts';

export const ADMIN_KEY = 'admin-key-0123456789';
export const READ_KEY = 'read-key-0123456789';
export const SUBMIT_KEY = 'submit-key-0123456789';
export const WORKER_KEY = 'worker-key-0123456789';
/** An admin of one project only. */
export const PROJECT_ADMIN_KEY = 'project-admin-0123456789';

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
export const AS_ADMIN = bearer(ADMIN_KEY);

export interface RawAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

export interface OpenApp extends AsyncDisposable {
  url: string;
  port: number;
  fake: FakeService;
  /** All that was logged. */
  logged: () => string;
  close(): Promise<void>;
  /** Sends exactly this path, with this Host and method: no client tidies it up. */
  raw(path: string, options?: { method?: string; headers?: Record<string, string> }): Promise<RawAnswer>;
}

const KEYS = [
  { key: ADMIN_KEY, caller: 'admin', role: 'admin', project: '*' },
  { key: READ_KEY, caller: 'reader', role: 'read', project: 'default' },
  { key: SUBMIT_KEY, caller: 'submitter', role: 'submit', project: 'default' },
  { key: WORKER_KEY, caller: 'holder', role: 'worker', project: 'default' },
  { key: PROJECT_ADMIN_KEY, caller: 'lea', role: 'admin', project: 'other' },
] as const;

/** Listens on a free port of 127.0.0.1 with the fake service, five keys and, if given, other dependencies. */
export async function openApp(overrides: Partial<AppDependencies> = {}, port = 0): Promise<OpenApp> {
  const fake = fakeService();
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const store = openTestRedis();
  const keys = overrides.keys ?? fixedKeys(KEYS);
  const app = buildApp({
    service: fake.service,
    keys,
    sessions: createSessions(store.redis, store.prefix, keys),
    queues: [],
    logger: createLogger('trace', sink),
    host: '127.0.0.1',
    bodyLimitBytes: 4_194_304,
    ...overrides,
  });
  // What is open may still need it, so it goes last.
  app.addHook('onClose', () => store[Symbol.asyncDispose]());
  const url = await app.listen({ host: '127.0.0.1', port });
  const bound = Number(new URL(url).port);
  return {
    url,
    port: bound,
    fake,
    logged: () => lines.join(''),
    close: () => app.close(),
    async raw(path, { method = 'GET', headers = {} } = {}) {
      const sent = request({ host: '127.0.0.1', port: bound, path, method, headers, agent: false }).end();
      const [answer]: IncomingMessage[] = await once(sent, 'response');
      if (answer === undefined) throw new Error('no answer');
      const chunks = await answer.toArray();
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        text: Buffer.concat(chunks).toString(),
      };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
