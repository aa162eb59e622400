import { readFile } from 'node:fs/promises';
import { openApiDocument, routeTable } from '@crewboard/api';
import { Problem } from '@crewboard/contracts';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { SPECIAL_ANSWERS } from '../../apps/api/src/openapi/answers.ts';
import { DESCRIBED } from '../../apps/api/src/openapi/descriptions.ts';
import { exampleAnswers } from '../../apps/api/src/openapi/example-answers.ts';
import { documentText, openApiOfRoutes } from '../support/openapi.ts';
import { fakeService } from './fake-service.ts';
import { AS_ADMIN, openApp } from './open-app.ts';

const Media = z.looseObject({ schema: z.looseObject({}).optional(), example: z.unknown().optional() });
const Content = z.record(z.string(), Media);
const Operation = z.looseObject({
  operationId: z.string(),
  description: z.string().min(1),
  parameters: z.array(z.looseObject({ name: z.string(), description: z.string().min(1) })),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Content.optional() })),
});
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
});

const document = Document.parse(openApiOfRoutes());
const routes = routeTable(fakeService().service);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

it('is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone({ ...document }));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

it('stands in docs/openapi.json as it is now (write it with `npm run openapi`)', async () => {
  const kept = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  expect(kept === documentText(), 'docs/openapi.json is out of date: run `npm run openapi`').toBe(true);
});

it('has one operation for every route, each under a name of its own', () => {
  const named = new Set(operations.map(({ operation }) => operation.operationId));
  expect(named.size).toBe(operations.length);
  expect([...named].sort()).toEqual(routes.map(({ name }) => name).sort());
});

it('shows an example of every answer that is JSON, which the route could give', () => {
  for (const { name, notJson, streams, schemas } of routes) {
    const isJson = notJson === undefined && streams !== 'application/x-ndjson';
    if (!isJson || schemas.answer instanceof z.ZodUndefined || name === 'readOpenApi') continue;
    const example = exampleAnswers[name];
    expect(example, `exampleAnswers has none for ${name}`).toBeDefined();
    expect(schemas.answer.safeParse(JSON.parse(JSON.stringify(example))).error, name).toBeUndefined();
  }
});

it('has examples that fit the schemas beside them, and none of a route that is not there', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(JSON.parse(JSON.stringify(document)), 'document');
  let checked = 0;
  const check = (schema: object | false, example: unknown, where: string) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const validate = ajv.compile(JSON.parse(text));
    expect(
      validate(JSON.parse(JSON.stringify(example))),
      `${where}: ${ajv.errorsText(validate.errors)}`,
    ).toBe(true);
    checked += 1;
  };
  for (const { path, method, operation } of operations) {
    const contents = [
      operation.requestBody?.content,
      ...Object.values(operation.responses).map((r) => r.content),
    ];
    for (const [type, { schema, example }] of contents.flatMap((content) => Object.entries(content ?? {}))) {
      if (type === 'application/octet-stream') continue;
      expect(example, `${method} ${path} has no example of ${type}`).toBeDefined();
      check(schema ?? false, example, `${method} ${path}`);
    }
  }
  expect(checked).toBeGreaterThan(60);
  const names = new Set(routes.map(({ name }) => name));
  expect(Object.keys(exampleAnswers).filter((name) => !names.has(name))).toEqual([]);
});

it('fails for a route of which nobody has said how it answers, instead of leaving it out', () => {
  const [route] = routes;
  if (route === undefined) throw new Error('no routes');
  const plain = { ...route, name: 'newCall', path: '/v1/new', otherStatuses: [] };
  const write = (row: typeof route) => () => openApiDocument([row], '1');
  expect(write({ ...plain, status: 204 })).not.toThrow();
  expect(write(plain)).toThrow('The operation newCall has no example');
  expect(write({ ...plain, status: 204, otherStatuses: [200] })).toThrow(
    'The answers of newCall are not all described (200)',
  );
  expect(write({ ...plain, streams: 'text/csv' })).toThrow('newCall');
  const query = z.strictObject({ colour: z.string().optional() });
  expect(write({ ...plain, status: 204, schemas: { ...route.schemas, query } })).toThrow(
    'The parameter "colour" is not described',
  );
});

it('describes further only operations that are there', () => {
  const names = new Set(routes.map(({ name }) => name));
  expect(DESCRIBED.filter((name) => !names.has(name))).toEqual([]);
  expect(SPECIAL_ANSWERS.filter((name) => !names.has(name))).toEqual([]);
});

it('has an example of every problem, which fits it', () => {
  const { responses } = z
    .looseObject({ responses: z.record(z.string(), z.looseObject({ content: Content })) })
    .parse(document.components);
  expect(Object.keys(responses).length).toBeGreaterThan(8);
  for (const [status, { content }] of Object.entries(responses)) {
    const problem = Problem.parse(content['application/problem+json']?.example);
    expect(problem.status, status).toBe(Number(status));
  }
});

it('refers to nothing that is not in it', () => {
  const text = JSON.stringify(document);
  for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
    const part = z.record(z.string(), z.record(z.string(), z.unknown())).parse(document.components)[kind];
    expect(part?.[name], `${kind}/${name}`).toBeDefined();
  }
});

it('is served to whoever has a key, and to nobody else', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/openapi.json`, { headers: AS_ADMIN });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(JSON.parse(documentText()));
  const refused = await fetch(`${app.url}/openapi.json`);
  expect(refused.status).toBe(401);
  expect(Problem.parse(await refused.json()).code).toBe('unauthorized');
});
