import { z } from 'zod';
import type { Route } from '../route.ts';
import { answersOf, type ShownAnswer } from './answers.ts';
import { descriptionOf } from './descriptions.ts';
import { headersOf } from './headers.ts';
import { parametersOf, pathOf } from './parameters.ts';
import { problemResponse, problemStatuses, ShownProblem } from './problems.ts';
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

function contentOf(
  { type, schema, example }: NonNullable<ShownAnswer['content']>,
  writer: SchemaWriter,
): object {
  return {
    [type]: {
      ...(schema === undefined ? {} : { schema: writer.write(schema, 'output') }),
      ...(example === undefined ? {} : { example }),
    },
  };
}

/** The response of one status: two answers of one status differ in their content type. */
function responseOf(answers: readonly ShownAnswer[], writer: SchemaWriter): object {
  const contents = answers.flatMap(({ content }) => (content === undefined ? [] : [content]));
  const headers = Object.assign({}, ...answers.map((answer) => answer.headers ?? {}));
  return {
    description: answers.map(({ description }) => description).join('. '),
    ...headersOf(headers),
    ...(contents.length === 0
      ? {}
      : { content: Object.assign({}, ...contents.map((content) => contentOf(content, writer))) }),
  };
}

function responsesOf(route: Route, writer: SchemaWriter): object {
  const problems = problemStatuses(route).map(
    (status) => [status, { $ref: `#/components/responses/${status}` }] as const,
  );
  const answers = answersOf(route);
  const successes = answers.map(({ status }) => {
    const same = answers.filter((answer) => answer.status === status);
    return [status, responseOf(same, writer)] as const;
  });
  return { ...Object.fromEntries(problems), ...Object.fromEntries(successes) };
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
    description: descriptionOf(route),
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
  const writer = schemaWriter({ Problem: ShownProblem });
  writer.write(ShownProblem, 'output');
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
