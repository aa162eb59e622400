import { Problem } from '@crewboard/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { redisText } from '../support/local-stack.ts';
import { openApiOfRoutes } from '../support/openapi.ts';
import { ADMIN_KEY, bearer } from './open-app.ts';
import { openRealApp, type RealApp } from './open-real-app.ts';
import { wrongBodies, wrongTexts, wrongWords } from './wrong-requests.ts';

vi.setConfig({ testTimeout: 120_000 });

const Schema = z.looseObject({});
const Media = z.looseObject({ schema: Schema.optional(), example: z.unknown().optional() });
const Parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  schema: Schema,
});
const Operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(Parameter),
  security: z.array(z.unknown()),
  requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), Media) }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), Media).optional() })),
});
type Operation = z.infer<typeof Operation>;

const document = z
  .looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) })
  .parse(openApiOfRoutes());
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(JSON.stringify(document)), 'document');

function validatorOf(schema: object): ValidateFunction {
  return ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')),
  );
}

interface Sent {
  query?: string;
  path?: string;
  body?: string | undefined;
  headers?: Record<string, string>;
}

/** A job with a task that is held, for one operation alone; and how to send that operation to it. */
async function openTarget(app: RealApp, method: string, path: string) {
  const submitted = await fetch(`${app.url}/v1/jobs`, {
    method: 'POST',
    headers: { ...bearer(ADMIN_KEY), 'content-type': 'application/json' },
    body: JSON.stringify({ tasks: [{ title: 'One', key: 'one', executor: 'external' }, { title: 'Two' }] }),
  });
  const { id } = z.looseObject({ id: z.string() }).parse(await submitted.json());
  const listed = await app.send('GET', `/${id}/tasks`);
  const [task] = z.array(z.looseObject({ id: z.string() })).parse(listed.body.tasks);
  const own = path
    .replace('/v1/keys/{id}', '/v1/keys/key_zzzzzzzzzzzz')
    .replace('{id}', id)
    .replace('{taskId}', task?.id ?? '')
    .replace('{path}', 'report.md');
  const send = ({ query = '', path: other = own, body, headers = {} }: Sent) =>
    fetch(`${app.url}${other}${query}`, {
      method,
      headers: {
        ...bearer(ADMIN_KEY),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  return { own, send };
}

/** What an answer must be, whatever was sent: documented, in its documented shape, and never the server's fault. */
async function expectDocumented(answer: Response, operation: Operation, what: string) {
  const told = `${operation.operationId} ${what}: ${answer.status}`;
  expect(answer.status, told).toBeLessThan(500);
  const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
  if (answer.status >= 400 && answer.status !== 416) {
    expect(type, told).toBe('application/problem+json');
    const problem = Problem.parse(await answer.json());
    expect(problem.code, told).not.toBe('unavailable');
    expect(problem.status).toBe(answer.status);
    expect(operation.responses[String(answer.status)], `${told} is not documented`).toBeDefined();
    return problem;
  }
  const documented = operation.responses[String(answer.status)];
  expect(documented, told).toBeDefined();
  if (type !== 'application/json') {
    await answer.body?.cancel();
    return undefined;
  }
  const schema = documented?.content?.[type]?.schema;
  const validate = validatorOf(schema ?? {});
  expect(validate(await answer.json()), `${told} ${ajv.errorsText(validate.errors)}`).toBe(true);
  return undefined;
}

/** The stream of events goes on for as long as its job: its pages are asked for. */
const acceptOf = (path: string): Record<string, string> =>
  path.endsWith('/events') ? { accept: 'application/json' } : {};

const REFUSED_BODY = ['invalid_argument', 'unsupported_media_type', 'payload_too_large'];

/** All of Redis but for what the server writes for itself: when keys were used last, that Redis takes writes. */
async function contentOf({ board }: RealApp): Promise<unknown> {
  const entries = z.array(z.tuple([z.string(), z.unknown()])).parse(JSON.parse(await redisText(board.store)));
  return entries.filter(([key]) => !/:(?:keys:used|ready)$/.test(key));
}

const isGuarded = ({ operation }: { operation: Operation }) => operation.security.length > 0;
const bodied = operations.filter(({ operation }) => operation.requestBody !== undefined);
const named = (list: typeof operations) => list.map((each) => [each.operation.operationId, each] as const);

describe('every operation of the OpenAPI document', () => {
  let app: RealApp;
  beforeAll(async () => {
    app = await openRealApp({ CREWBOARD_SIMULATED_MODEL_URL: 'http://127.0.0.1:9' });
  });
  afterAll(async () => app[Symbol.asyncDispose]());

  it.each(named(operations))('%s answers what is documented', async (_, { method, path, operation }) => {
    const { send } = await openTarget(app, method, path);
    const example = operation.requestBody?.content['application/json']?.example;
    const body = example === undefined ? undefined : JSON.stringify(example);
    await expectDocumented(await send({ body, headers: acceptOf(path) }), operation, 'as documented');
  });

  it.each(named(bodied))(
    '%s refuses wrong bodies with a problem, and changes nothing',
    async (_, { method, path, operation }) => {
      const { send } = await openTarget(app, method, path);
      const media = operation.requestBody?.content['application/json'];
      const validate = validatorOf(media?.schema ?? {});
      const bodies = wrongBodies(document, media?.schema ?? {}, media?.example);
      const wrong = bodies.filter((body) => !validate(JSON.parse(body)));
      expect(wrong.length).toBeGreaterThan(0);
      const before = await contentOf(app);
      for (const body of wrong) {
        const problem = await expectDocumented(await send({ body }), operation, body.slice(0, 200));
        expect(problem?.code, body.slice(0, 200)).toBeDefined();
      }
      // A body that may be left out may be empty.
      const isOptional = validate({}) && operation.requestBody?.required === false;
      for (const { body, type } of wrongTexts.filter((each) => each.body !== '' || !isOptional)) {
        const problem = await expectDocumented(
          await send({ body, headers: { 'content-type': type } }),
          operation,
          `${type} ${body.slice(0, 40)}`,
        );
        expect(REFUSED_BODY, `${type} ${body.slice(0, 40)}`).toContain(problem?.code);
      }
      expect(await contentOf(app)).toEqual(before);
      // What the schema can't tell is refused by the board, or taken.
      for (const body of bodies.filter((each) => validate(JSON.parse(each)))) {
        await expectDocumented(await send({ body }), operation, body.slice(0, 200));
      }
    },
  );

  it.each(named(operations.filter(isGuarded)))(
    '%s refuses wrong names in its path, and parameters that it does not know',
    async (_, { method, path, operation }) => {
      const { own, send } = await openTarget(app, method, path);
      const example = operation.requestBody?.content['application/json']?.example;
      const body = example === undefined ? undefined : JSON.stringify(example);
      const before = await contentOf(app);
      for (const parameter of operation.parameters.filter((each) => each.in === 'path')) {
        const parts = path.split('/');
        const at = parts.indexOf(`{${parameter.name}}`);
        for (const word of wrongWords) {
          const wrong = own
            .split('/')
            .map((part, i) => (i === at ? encodeURIComponent(word) : part))
            .join('/');
          const problem = await expectDocumented(await send({ path: wrong, body }), operation, wrong);
          expect(problem?.code, wrong).toBe('not_found');
        }
      }
      const queries = operation.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
      for (const name of [...queries, 'colour']) {
        for (const word of wrongWords) {
          const query = `?${name}=${encodeURIComponent(word)}&${name}=${encodeURIComponent(word)}`;
          await expectDocumented(await send({ query, body, headers: acceptOf(path) }), operation, query);
        }
      }
      if (path !== '/metrics') {
        const problem = await expectDocumented(await send({ query: '?colour=1', body }), operation, 'colour');
        expect(problem?.code).toBe('invalid_argument');
      }
      if (operation.requestBody === undefined && method !== 'GET') return;
      if (method === 'GET') expect(await contentOf(app)).toEqual(before);
    },
  );
});
