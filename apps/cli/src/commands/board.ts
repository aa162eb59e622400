import type { Client } from '@crewboard/client';
import { type BoardSnapshot, renderBoard, type Task, toTaskLine } from '@crewboard/contracts';
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

/** The first `limit` tasks of a job, with what the job says of all. */
async function readSnapshot(client: Client, jobId: string, limit: number): Promise<BoardSnapshot> {
  // The job after the first page: its counts are at most newer than what is listed.
  const first = await client.tasks.list(jobId, { limit: Math.min(limit, PAGE_MOST) });
  const job = await client.jobs.get(jobId);
  const tasks: Task[] = [...first.tasks];
  let cursor = first.nextCursor;
  while (cursor !== undefined && tasks.length < limit) {
    const page = await client.tasks.list(jobId, { cursor, limit: Math.min(limit - tasks.length, PAGE_MOST) });
    tasks.push(...page.tasks);
    cursor = page.nextCursor;
  }
  return {
    jobId,
    title: job.title,
    status: job.status,
    counts: job.counts,
    tasks: tasks.map(toTaskLine),
    // Proposals stand outside the counts, so there is one more at least whatever those say.
    more: cursor === undefined ? 0 : Math.max(1, job.counts.total - tasks.length),
    asOf: first.asOf ?? '0-0',
  };
}

async function board(jobId: string, options: BoardOptions, { terminal, config }: Context): Promise<void> {
  const snapshot = await withServer(config(), options, (client) =>
    readSnapshot(client, jobId, options.limit),
  );
  if (options.json || options.format === 'json') return terminal.data(`${safeJson(snapshot)}\n`);
  const { format = terminal.colours.data ? 'ansi' : 'plain', by: groupBy } = options;
  const width = terminal.dataColumns();
  const text =
    format === 'md'
      ? renderBoard(snapshot, { format: 'markdown', groupBy })
      : renderBoard(snapshot, { format, groupBy, ...(width === undefined ? {} : { width }) });
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
