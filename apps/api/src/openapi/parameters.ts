import { z } from 'zod';
import type { Route } from '../route.ts';
import type { JsonSchema, SchemaWriter } from './schemas.ts';

/** What the parameters mean; of a new one it has to be said here. */
const MEANINGS: Readonly<Record<string, string>> = {
  id: 'The ID of the job, or of the key',
  taskId: 'The ID of the task',
  path: 'The path or the ref of the file; each part is percent encoded',
  cursor: '`nextCursor` of the page before',
  limit: 'Entries of a page: 50 by default, at most 100; a stream has none',
  status: 'Only tasks of this status',
  readiness: 'Only pending tasks of this readiness',
  label: 'A label; several of them mean all',
  key: 'A pattern for the whole key of a task: `*` stands for any characters, `?` for one',
  class: 'Only tasks whose failure is of this class',
  after: 'An event ID: what follows it; `now`: only what is new',
  types: 'Event types or families such as `task.*`, with commas between them',
  'idempotency-key':
    'Sent again with the same key and body the request happens once, and is answered the same',
  'last-event-id': 'The last event that the client knows: the stream goes on after it',
  range: 'A part of the file, such as `bytes=0-1023`',
  'if-range': 'The ETag that the range is meant for; of another one the whole file is sent',
  'if-none-match': 'ETags of files that the client has, or `*`: one of these is answered 304',
};

/** Fastify's notation of a path in that of OpenAPI: `/v1/jobs/:id` is `/v1/jobs/{id}`, and a last `*` is `{path}`. */
export function pathOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}');
}

type Place = 'path' | 'query' | 'header';

function parameter(place: Place, name: string, schema: z.ZodType, writer: SchemaWriter): object {
  // Of a number that comes as text, only what it is read as says what it must be.
  const sent = writer.write(schema, 'input');
  const shown: JsonSchema = Object.keys(sent).length > 0 ? sent : writer.write(schema, 'output');
  const shownName = name === '*' ? 'path' : name;
  const description = MEANINGS[shownName];
  if (description === undefined)
    throw new Error(`The parameter "${shownName}" is not described: add it to openapi/parameters.ts.`);
  return {
    name: shownName,
    in: place,
    required: place === 'path' || !schema.safeParse(undefined).success,
    description,
    schema: shown,
  };
}

/** OpenAPI leaves this header to the answers of an operation. */
const NOT_SHOWN: readonly string[] = ['accept'];

/** Returns the parameters of a route in its path, query and headers. */
export function parametersOf({ schemas }: Route, writer: SchemaWriter): object[] {
  const places = [
    ['path', schemas.params],
    ['query', schemas.query],
    ['header', schemas.headers],
  ] as const;
  return places.flatMap(([place, schema]) =>
    schema instanceof z.ZodObject
      ? Object.entries(schema.shape).flatMap(([name, each]) =>
          each instanceof z.ZodType && !(place === 'header' && NOT_SHOWN.includes(name))
            ? [parameter(place, name, each, writer)]
            : [],
        )
      : [],
  );
}
