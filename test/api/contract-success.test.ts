import { BoardEvent, ResultLine } from '@crewboard/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openApiOfRoutes } from '../support/openapi.ts';
import { type Call, SCENES } from './contract-scenes.ts';
import { AS_ADMIN } from './open-app.ts';
import { openRealApp, type RealApp } from './open-real-app.ts';

vi.setConfig({ testTimeout: 60_000 });

const Documented = z.looseObject({
  $ref: z.string().optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}).optional() })).optional(),
});
const Operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.unknown()),
  responses: z.record(z.string(), Documented),
});
type Operation = z.infer<typeof Operation>;

const document = z
  .looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })
  .parse(openApiOfRoutes());
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const named = operations.map((each) => [each.operation.operationId, each] as const);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(JSON.stringify(document)), 'document');

/** What is wrong with `value` by a schema of the document; empty: nothing. */
function faultsOf(schema: object, value: unknown): string {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const validate = ajv.compile(JSON.parse(text));
  return validate(value) ? '' : ajv.errorsText(validate.errors);
}

/** What a JSON Schema can't tell of the lines within a text. */
const LINES: Readonly<Record<string, (line: string) => void>> = {
  'text/event-stream': (line) => {
    if (line.startsWith('data: ')) BoardEvent.parse(JSON.parse(line.slice(6)));
  },
  'application/x-ndjson': (line) => {
    if (line !== '') ResultLine.parse(JSON.parse(line));
  },
};

function send({ url }: RealApp, method: string, path: string, call: Call): Promise<Response> {
  const filled = path
    .replace('{id}', call.id ?? '')
    .replace('{taskId}', call.taskId ?? '')
    .replace('{path}', call.path ?? '');
  const hasBody = call.body !== undefined;
  return fetch(`${url}${filled}${call.query ?? ''}`, {
    method,
    headers: { ...AS_ADMIN, ...(hasBody ? { 'content-type': 'application/json' } : {}), ...call.headers },
    ...(hasBody ? { body: JSON.stringify(call.body) } : {}),
  });
}

/** Compares an answer with its documented status, headers, content type and shape; returns the last two of them. */
async function check(operation: Operation, answer: Response): Promise<string> {
  const documented = operation.responses[String(answer.status)];
  for (const name of Object.keys(documented?.headers ?? {}))
    expect(answer.headers.has(name), `the documented header ${name}`).toBe(true);
  const text = await answer.text();
  const { content } = documented ?? {};
  if (content === undefined) {
    expect(text).toBe('');
    return `${answer.status}`;
  }
  const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  // A file has the type that it was stored with.
  const key = 'application/octet-stream' in content ? 'application/octet-stream' : type;
  expect(Object.keys(content)).toContain(key);
  const schema = content[key]?.schema;
  if (schema !== undefined)
    expect(faultsOf(schema, type === 'application/json' ? JSON.parse(text) : text)).toBe('');
  const readLine = LINES[key];
  if (readLine !== undefined) for (const line of text.split('\n')) readLine(line);
  return `${answer.status} ${key}`;
}

/** Every way in which the document says that an operation succeeds, but for a server that has no Redis. */
function waysOf({ responses }: Operation): string[] {
  return Object.entries(responses).flatMap(([status, { $ref, content }]) => {
    if ($ref !== undefined || status === '503') return [];
    return content === undefined ? [status] : Object.keys(content).map((type) => `${status} ${type}`);
  });
}

describe('every operation of the OpenAPI document', () => {
  let app: RealApp;
  beforeAll(async () => {
    app = await openRealApp({ CREWBOARD_SIMULATED_MODEL_URL: 'http://127.0.0.1:9' });
  });
  afterAll(async () => app[Symbol.asyncDispose]());

  it.each(named)('%s succeeds in each way that is documented', async (name, { method, path, operation }) => {
    const scene = SCENES[name];
    if (scene === undefined) throw new Error(`${name} has no scene: add it to contract-scenes.ts.`);
    const seen = new Set<string>();
    for (const call of await scene(app)) {
      const answer = await send(app, method, path, call);
      const told = answer.status === call.status ? '' : await answer.clone().text();
      expect(answer.status, told).toBe(call.status);
      seen.add(await check(operation, answer));
    }
    expect([...seen].sort()).toEqual(waysOf(operation).sort());
  });
});
