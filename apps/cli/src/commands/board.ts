import type { Client } from '@crewboard/client';
import {
  type BoardSnapshot,
  renderBoard,
  STATUS_ORDER,
  type Task,
  type TaskListQuery,
  toTaskLine,
} from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { countArgument, jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface BoardOptions extends ServerFlags {
  format?: 'plain' | 'ansi' | 'md' | 'json';
  by: 'parent' | 'status';
  limit: number;
  json?: true;
}

const LIMIT_DEFAULT = 200;
const LIMIT_MOST = 10_000;
const PAGE_MOST = 100;
/** In a pipe no title, and no owner, is too long. */
const PIPE_COLUMNS = 1000;

/** Up to `limit` tasks that fit `query`, in plan order; `isCut` when there are more. */
async function readTasks(client: Client, jobId: string, limit: number, query: TaskListQuery) {
  const first = await client.tasks.list(jobId, { ...query, limit: Math.min(limit, PAGE_MOST) });
  const tasks: Task[] = [...first.tasks];
  let cursor = first.nextCursor;
  while (cursor !== undefined && tasks.length < limit) {
    const most = Math.min(limit - tasks.length, PAGE_MOST);
    const page = await client.tasks.list(jobId, { ...query, cursor, limit: most });
    tasks.push(...page.tasks);
    cursor = page.nextCursor;
  }
  return { tasks, asOf: first.asOf ?? '0-0', isCut: cursor !== undefined };
}

/**
 * The first `limit` tasks of a job in the order in which they are shown, with what the job says of all: by status, those
 * that people must act on come from anywhere in the plan.
 */
async function readSnapshot(
  client: Client,
  jobId: string,
  { limit, by }: BoardOptions,
): Promise<BoardSnapshot> {
  const queries: TaskListQuery[] = by === 'parent' ? [{}] : STATUS_ORDER.map((status) => ({ status }));
  const tasks: Task[] = [];
  let asOf: string | undefined;
  let isCut = false;
  for (const query of queries) {
    // Where the last place is taken, the next status still says whether it has any.
    const left = limit - tasks.length;
    const list = await readTasks(client, jobId, Math.max(1, left), query);
    asOf ??= list.asOf;
    tasks.push(...list.tasks.slice(0, left));
    isCut ||= list.isCut || list.tasks.length > left;
    if (isCut) break;
  }
  // The job after the tasks: its counts are at most newer than what is listed.
  const job = await client.jobs.get(jobId);
  return {
    jobId,
    title: job.title,
    status: job.status,
    counts: job.counts,
    tasks: tasks.map(toTaskLine),
    // Proposals stand outside the counts, so there is one more at least whatever those say.
    more: isCut ? Math.max(1, job.counts.total - tasks.length) : 0,
    asOf: asOf ?? '0-0',
  };
}

async function board(jobId: string, options: BoardOptions, { terminal, config }: Context): Promise<void> {
  const snapshot = await withServer(config(), options, (client) => readSnapshot(client, jobId, options));
  if (options.json || options.format === 'json') return terminal.data(`${safeJson(snapshot)}\n`);
  const { format = terminal.colours.data ? 'ansi' : 'plain', by: groupBy } = options;
  const width = terminal.dataColumns() ?? PIPE_COLUMNS;
  const text =
    format === 'md'
      ? renderBoard(snapshot, { format: 'markdown', groupBy })
      : renderBoard(snapshot, { format, groupBy, width });
  await terminal.data(`${text}\n`);
}

/** `crewboard board JOB`: the job's tasks, a line each. */
export function addBoard(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('board')
      .description("Show a job's board: what is done, who holds what, what waits for what")
      .argument('<job>', 'the job ID', jobArgument)
      .addOption(
        new Option(
          '--format <format>',
          'how to show it (default: ansi on a terminal with colours, else plain)',
        ).choices(['plain', 'ansi', 'md', 'json']),
      )
      .addOption(
        new Option('--by <group>', 'what stands together').choices(['parent', 'status']).default('parent'),
      )
      .addOption(
        new Option('--limit <tasks>', 'how many tasks to show')
          .argParser((text) => countArgument(text, LIMIT_MOST))
          .default(LIMIT_DEFAULT),
      )
      .option('--json', 'the same as --format json'),
  ).action((jobId: string, options: BoardOptions) => board(jobId, options, context));
  withExamples(command, [
    'crewboard board job_4kx9m2ab7ycd',
    'crewboard board job_4kx9m2ab7ycd --by status --format md > board.md',
    'watch --color crewboard board job_4kx9m2ab7ycd --format ansi',
  ]);
}
