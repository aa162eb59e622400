import { z } from 'zod';
import { FailureClass, TaskStatus } from './task-states.ts';

const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item)]).optional();

/** Which tasks a list is to show. */
const ListedWhere = z.object({
  status: oneOrMore(TaskStatus),
  label: oneOrMore(z.string()),
  key: z.string().optional(),
  class: FailureClass.optional(),
});

/**
 * A call that an error advises, in nobody's language yet: HTTP, tools and MCP each say it in their caller's own. What
 * it leaves out (the job, the task) is that of the call which was refused. `again`: that call once more, mended.
 */
export const NextCall = z.discriminatedUnion('call', [
  // `look`: what the refused call is about, read; it changes nothing.
  z.object({ call: z.enum(['read_task', 'explain_task', 'look']), taskId: z.string().optional() }),
  z.object({ call: z.literal('read_job'), jobId: z.string().optional() }),
  z.object({
    call: z.enum([
      // The list that what was asked for would stand in.
      'list',
      'list_jobs',
      'claim',
      'start_job',
      'cancel_job',
      'submit_plan',
      'read_result',
      'list_artifacts',
    ]),
  }),
  z.object({ call: z.literal('list_tasks'), where: ListedWhere.optional() }),
  z.object({ call: z.literal('again'), with: z.string().optional() }),
]);
export type NextCall = z.infer<typeof NextCall>;

/** Longer examples stand in `example` alone. */
const EXAMPLE_MOST = 600;

function shownExample(example: unknown): string {
  const text = example === undefined ? '' : JSON.stringify(example);
  return text.length > EXAMPLE_MOST ? '' : text;
}

const words = (...parts: (string | undefined)[]) =>
  parts.filter((part) => part !== undefined && part !== '').join(' ');

/** A refused request over HTTP, as far as an advised call needs it; `path` without its query. */
export interface HttpRequest {
  method: string;
  path: string;
  jobId?: string | undefined;
  taskId?: string | undefined;
  /** Of a claim: who claims. */
  owner?: unknown;
}

/** Lists and pages that are about nothing of a job. */
const OUTSIDE_JOBS = ['/v1/keys', '/login'];

/** The list that what stands at `path` is one of. */
function listOf(path: string): string {
  return OUTSIDE_JOBS.find((list) => path === list || path.startsWith(`${list}/`)) ?? '/v1/jobs';
}

/** The filters as a query; of several statuses a list can't say any, and shows all. */
function filterQuery({ status, label, key, class: failureClass }: z.infer<typeof ListedWhere> = {}): string {
  const query = new URLSearchParams();
  const [first, ...others] = [status ?? []].flat();
  if (first !== undefined && others.length === 0) query.append('status', first);
  for (const each of [label ?? []].flat()) query.append('label', each);
  if (key !== undefined) query.append('key', key);
  if (failureClass !== undefined) query.append('class', failureClass);
  return query.size === 0 ? '' : `?${query}`;
}

/** Says `next` as an HTTP call; `example`: a valid body of the refused one. */
export function httpCall(next: NextCall, request: HttpRequest, example?: unknown): string {
  if (next.call === 'again') {
    return words(request.method, request.path, shownExample(example), next.with && `with ${next.with}`);
  }
  // Read as it is, a stream of events has no end.
  const isStream = request.path.endsWith('/events');
  if (next.call === 'look' && request.method === 'GET' && !isStream) return `GET ${request.path}`;
  if (next.call === 'list') return `GET ${listOf(request.path)}`;
  const jobId = (next.call === 'read_job' ? next.jobId : undefined) ?? request.jobId;
  if (next.call === 'look' && jobId === undefined) return `GET ${listOf(request.path)}`;
  if (jobId === undefined || next.call === 'list_jobs') return 'GET /v1/jobs';
  const job = `/v1/jobs/${encodeURIComponent(jobId)}`;
  switch (next.call) {
    case 'read_task':
    case 'explain_task': {
      const taskId = next.taskId ?? request.taskId;
      if (taskId === undefined) return `GET ${job}/tasks`;
      const task = `${job}/tasks/${encodeURIComponent(taskId)}`;
      return `GET ${next.call === 'read_task' ? task : `${task}/why`}`;
    }
    case 'look': {
      const taskId = next.taskId ?? request.taskId;
      if (taskId !== undefined) return `GET ${job}/tasks/${encodeURIComponent(taskId)}`;
      return request.path.startsWith(`${job}/tasks`) ? `GET ${job}/tasks` : `GET ${job}`;
    }
    case 'read_job':
    // Only the lead submits plans.
    case 'submit_plan':
      return `GET ${job}`;
    case 'list_tasks':
      return `GET ${job}/tasks${filterQuery(next.where)}`;
    case 'claim':
      return words(
        `POST ${job}/tasks/claim`,
        request.owner === undefined ? 'with your owner' : JSON.stringify({ owner: request.owner }),
      );
    case 'start_job':
      return `POST ${job}/start`;
    case 'cancel_job':
      return `POST ${job}/cancel`;
    case 'read_result':
      return `GET ${job}/result`;
    case 'list_artifacts':
      return `GET ${job}/artifacts`;
  }
}

/** Says `next` as a call of an agent's tools; `tool` is the refused one, `example` a valid input of it. */
export function toolCall(next: NextCall, tool: string, example?: unknown): string {
  switch (next.call) {
    case 'again': {
      const shown = shownExample(example);
      if (shown !== '') return words(tool, shown, next.with && `with ${next.with}`);
      return next.with === undefined ? tool : `${tool} again, with ${next.with}`;
    }
    case 'look':
    case 'read_task':
      return next.taskId === undefined
        ? 'board_list {}'
        : `board_get ${JSON.stringify({ taskId: next.taskId })}`;
    case 'explain_task':
      return next.taskId === undefined
        ? 'board_list {}'
        : `board_get ${JSON.stringify({ taskId: next.taskId, include: ['dependencies'] })}`;
    case 'submit_plan':
      return 'submit_plan {"tasks":[{"title":"..."}]}';
    case 'claim':
      return 'board_list {"view":"ready"}';
    case 'read_job':
    case 'list_tasks':
    case 'list':
    case 'list_jobs':
    case 'start_job':
    case 'cancel_job':
    case 'read_result':
    case 'list_artifacts':
      return 'board_list {}';
  }
}
