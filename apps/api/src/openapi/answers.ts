import { DEFAULT_LIMITS, DryRunAnswer, SubmitAnswer } from '@crewboard/contracts';
import { z } from 'zod';
import type { Route } from '../route.ts';
import { exampleAnswers } from './example-answers.ts';

/** One way in which a call is answered that is no problem. */
export interface ShownAnswer {
  status: number;
  description: string;
  /** Absent: the answer has no body. */
  content?: { type: string; schema: z.ZodType | undefined; example?: unknown };
  /** Headers that matter to its reader, with what they say. */
  headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json';
const { submitJob, createKey, followEvents } = exampleAnswers;

const FILE_HEADERS = {
  'Accept-Ranges': '`bytes`',
  ETag: 'The SHA-256 of the whole file, quoted; `If-Range` and `If-None-Match` take it',
  'Content-Disposition': '`attachment`, with the name to save it under',
  'Content-Length': 'The bytes of this answer',
};
const FILE_IS_KNOWN: ShownAnswer = {
  status: 304,
  description: '`If-None-Match` names the file: the caller has it',
  headers: { ETag: FILE_HEADERS.ETag },
};
const CONTENT_RANGE = 'The part and the size of the whole, such as `bytes 0-1023/4211`';

const DRY_RUN = {
  dryRun: true,
  project: 'default',
  title: 'Translate the handbook',
  status: 'running',
  tasks: { total: 2, ready: 1, waiting: 1, held: 0 },
  startsAtOnce: 1,
  first: [
    { number: 1, title: 'Write the glossary', key: 'glossary', dependsOn: [] },
    {
      number: 2,
      title: 'Translate pages/intro.md',
      dependsOn: [{ task: 'glossary', condition: 'completed' }],
    },
  ],
  limits: DEFAULT_LIMITS,
  models: { worker: 'claude-sonnet-5-5' },
  simulated: false,
  warnings: [],
};

const STREAMED_EVENT = [
  'event: task.claimed',
  'id: 1764493201000-0',
  'data: {"v":1,"id":"1764493201000-0","at":"2026-11-30T09:00:01.000Z","type":"task.claimed","jobId":"job_4kx9m2ab7ycd",' +
    '"taskId":"t_4kx9m2ab","attempt":1,"by":{"kind":"external","id":"laptop-7"},"status":"in_progress","version":2}',
  '\n',
].join('\n');

const RESULT_LINE =
  '{"key":"pages/intro","taskId":"t_4kx9m2ab","number":2,"title":"Translate pages/intro.md","status":"completed",' +
  '"summary":"Translated, 3 links kept","attempts":1,"usage":{"turns":2,"toolCalls":3,"modelCalls":2,"inputTokens":4100,' +
  '"outputTokens":310,"cacheReadTokens":0,"cacheWriteTokens":0,"settledUsd":0.0113,"estimatedUsd":0}}\n';

const METRICS =
  '# HELP crewboard_tasks Tasks of open jobs by status.\n# TYPE crewboard_tasks gauge\ncrewboard_tasks{status="pending"} 3\n';

const json = (schema: z.ZodType, example: unknown) => ({ type: JSON_TYPE, schema, example });
/** A text that no JSON Schema tells more of. */
const text = (type: string, example: string) => ({ type, schema: z.string(), example });
/** Bytes: OpenAPI 3.1 wants no schema for them. */
const bytes = { type: 'application/octet-stream', schema: undefined };

/** What is answered where the row of the table does not say all of it, by the route's name. */
const SPECIAL: Readonly<Record<string, (route: Route) => readonly ShownAnswer[]>> = {
  submitJob: () => [
    { status: 202, description: 'The job is taken in', content: json(SubmitAnswer, submitJob) },
    {
      status: 200,
      description: 'With dryRun: what a submit would do; nothing was stored',
      content: json(DryRunAnswer, DRY_RUN),
    },
  ],
  createKey: ({ schemas }) => [
    {
      status: 201,
      description: 'The new key: only this answer has its text',
      content: json(schemas.answer, createKey),
    },
    {
      status: 200,
      description: 'A repeat under the same Idempotency-Key: the key of then, without its text',
      content: json(schemas.answer, { ...Object(createKey), key: undefined, already: true }),
    },
  ],
  followEvents: ({ schemas }) => [
    {
      status: 200,
      description:
        'Events as they come, each with its type as `event`, its ID as `id` and a BoardEvent as `data`',
      content: text('text/event-stream', STREAMED_EVENT),
    },
    {
      status: 200,
      description: 'With `Accept: application/json` a page of the log',
      content: json(schemas.answer, followEvents),
    },
    { status: 204, description: 'The job has ended, and nothing comes after the named event' },
  ],
  downloadResults: () => [
    {
      status: 200,
      description: 'A ResultLine a line, in the order of the plan',
      content: text('application/x-ndjson', RESULT_LINE),
    },
  ],
  downloadArtifact: () => [
    {
      status: 200,
      description: 'The whole file, with the content type that it was stored with',
      content: bytes,
      headers: FILE_HEADERS,
    },
    {
      status: 206,
      description: 'The part that Range asks for',
      content: bytes,
      headers: { ...FILE_HEADERS, 'Content-Range': CONTENT_RANGE },
    },
    FILE_IS_KNOWN,
    {
      status: 416,
      description: 'The file has no such part',
      headers: { 'Content-Range': 'The size of the whole, such as `bytes */4211`' },
    },
  ],
  readReadiness: ({ schemas }) => [
    {
      status: 200,
      description: 'The server can take work',
      content: json(schemas.answer, exampleAnswers.readReadiness),
    },
    {
      status: 503,
      description: 'The server can take no work, for the reason given',
      content: json(schemas.answer, {
        ready: false,
        redis: 'down',
        reason: 'Redis does not answer',
        model: 'anthropic',
      }),
    },
  ],
  scrapeMetrics: () => [
    { status: 200, description: 'Metrics of the installation', content: text('text/plain', METRICS) },
  ],
};

function usualAnswer({ name, status, schemas }: Route): ShownAnswer {
  if (status === 204) return { status, description: 'Done' };
  const example = exampleAnswers[name];
  if (example === undefined)
    throw new Error(`The operation ${name} has no example: add it to openapi/example-answers.ts.`);
  return { status, description: 'The answer', content: json(schemas.answer, example) };
}

/** Returns every answer of a route that is no problem. Throws for one of which nobody has said how it looks. */
export function answersOf(route: Route): readonly ShownAnswer[] {
  const answers = SPECIAL[route.name]?.(route) ?? [usualAnswer(route)];
  const statuses = new Set(answers.map(({ status }) => status));
  const untold = [route.status, ...(route.otherStatuses ?? [])].filter((status) => !statuses.has(status));
  const isJson = route.streams === undefined && route.notJson === undefined;
  if (untold.length > 0 || (!isJson && SPECIAL[route.name] === undefined))
    throw new Error(
      `The answers of ${route.name} are not all described (${untold.join(', ')}): add them to openapi/answers.ts.`,
    );
  return answers;
}

/** The names of the operations whose answers {@link answersOf} tells by hand. */
export const SPECIAL_ANSWERS: readonly string[] = Object.keys(SPECIAL);
