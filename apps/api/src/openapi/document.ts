import { Problem } from '@crewboard/contracts';
import { z } from 'zod';
import type { Route } from '../route.ts';
import { exampleAnswers } from './example-answers.ts';
import { parametersOf, pathOf } from './parameters.ts';
import { problemResponse, problemStatuses } from './problems.ts';
import { type SchemaWriter, schemaWriter } from './schemas.ts';
import { TAGS, tagOf } from './tags.ts';

const KEYED = [{ key: [] }, { session: [] }];

const SECURITY_SCHEMES = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key; `crewboard keys add` makes one.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'crewboard_session',
    description: 'A browser that has logged in at /login.',
  },
};

const DESCRIPTION = [
  'Large jobs, planned on a shared board and done by many agents.',
  'Unknown fields are refused. Every refusal is an `application/problem+json` with a `code`, what to do next, and the word on whether anything was changed.',
  'A POST with an `Idempotency-Key` can be sent again: it happens once.',
].join('\n\n');

/** The content of a success: JSON by its schema, or what the route streams. */
function contentOf(route: Route, writer: SchemaWriter): object | undefined {
  const { streams, contentType, schemas, name } = route;
  if (schemas.answer instanceof z.ZodUndefined) return undefined;
  const example = exampleAnswers[name];
  const json = {
    schema: writer.write(schemas.answer, 'output'),
    ...(example === undefined ? {} : { example }),
  };
  if (contentType !== undefined) return { [contentType]: { schema: { type: 'string' } } };
  if (streams === undefined) return { 'application/json': json };
  const stream = { [streams]: { schema: { type: 'string' } } };
  // One route has both: the stream, and pages of the same.
  return streams === 'text/event-stream' ? { ...stream, 'application/json': json } : stream;
}

function responsesOf(route: Route, writer: SchemaWriter): object {
  const content = contentOf(route, writer);
  const success = (description: string, isEmpty: boolean) => ({
    description,
    ...(content === undefined || isEmpty ? {} : { content }),
  });
  const others = Object.entries(route.otherStatuses ?? {}).map(
    ([status, when]) => [status, success(when, status === '204' || status === '416')] as const,
  );
  const problems = problemStatuses(route).map(
    (status) => [status, { $ref: `#/components/responses/${status}` }] as const,
  );
  return {
    ...Object.fromEntries(problems),
    [route.status]: success(route.status === 204 ? 'Done' : 'The answer', route.status === 204),
    ...Object.fromEntries(others),
  };
}

function bodyOf({ schemas, example }: Route, writer: SchemaWriter): object {
  if (schemas.body instanceof z.ZodUndefined) return {};
  const schema = writer.write(schemas.body, 'input');
  const isOptional = schemas.body.safeParse(undefined).success;
  return {
    requestBody: {
      required: !isOptional,
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    },
  };
}

function operationOf(route: Route, writer: SchemaWriter): object {
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [tagOf(route.path)],
    'x-crewboard-access': route.access,
    security: route.access === 'public' ? [] : KEYED,
    parameters: parametersOf(route, writer),
    ...bodyOf(route, writer),
    responses: responsesOf(route, writer),
  };
}

/**
 * Returns the OpenAPI 3.1 document of the route table: one operation a route, its schemas those that requests are parsed
 * by. `version` is the server's.
 */
export function openApiDocument(routes: readonly Route[], version: string) {
  const writer = schemaWriter();
  writer.write(Problem, 'output');
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = pathOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, writer) };
  }
  const statuses = new Set(routes.flatMap(problemStatuses));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Crewboard',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    security: KEYED,
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: Object.fromEntries([...statuses].map((status) => [status, problemResponse(status)])),
      schemas: writer.components(),
    },
  };
}
