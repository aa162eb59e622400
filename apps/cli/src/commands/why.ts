import { type Client, isCrewboardError } from '@crewboard/client';
import type { Job, Task, TaskListQuery, Why } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { findTaskId } from '../find-task.ts';
import { printText } from '../print-text.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { showJob } from '../show.ts';
import { safeJson, safeLine } from '../text.ts';
import { jobArgument, taskArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface WhyOptions extends ServerFlags {
  json?: true;
}

/** A task and why it is where it is. */
interface Explained {
  taskId: string;
  number: number;
  title: string;
  why: Why;
}

/** Of each kind of standing still: the root causes are few, and those that wait behind them are many. */
const SHOWN_A_KIND = 5;
const STUCK: readonly TaskListQuery[] = [
  { status: 'failed' },
  { status: 'blocked' },
  { status: 'in_review' },
  { readiness: 'unreachable' },
  { readiness: 'held' },
  { readiness: 'scheduled' },
  { readiness: 'waiting' },
];

async function explainTask(client: Client, jobId: string, task: Task): Promise<Explained> {
  const { id: taskId, number, title } = task;
  return { taskId, number, title, why: await client.tasks.why(jobId, taskId) };
}

/** The lead's own task, which no list has; undefined in a job without a lead. */
async function leadOf(client: Client, jobId: string): Promise<Task | undefined> {
  try {
    return await client.tasks.get(jobId, await findTaskId(client, jobId, 0));
  } catch (error) {
    if (isCrewboardError(error, 'not_found')) return undefined;
    throw error;
  }
}

const standsStill = ({ status, readiness }: Task) =>
  STUCK.some(
    (kind) => kind.status === status || (status === 'pending' && kind.readiness === readiness?.state),
  );

/** What stands still: a few tasks of each kind, the lead first, and how many more there are. */
interface Stuck {
  tasks: Explained[];
  more: { kind: string; count: number }[];
}

async function readStuck(client: Client, { id: jobId, counts }: Job): Promise<Stuck> {
  // While nobody works, what is ready stands still as well: it waits for people, or for a worker.
  const kinds = counts.in_progress > 0 ? STUCK : [...STUCK, { readiness: 'ready' as const }];
  const lists = await Promise.all(
    kinds.map((query) => client.tasks.list(jobId, { ...query, limit: SHOWN_A_KIND })),
  );
  const lead = await leadOf(client, jobId);
  const tasks = [
    ...(lead !== undefined && standsStill(lead) ? [lead] : []),
    ...lists.flatMap((list) => list.tasks),
  ];
  const more = kinds.flatMap(({ status, readiness }, i) => {
    const kind = status ?? readiness;
    const count = kind === undefined ? 0 : counts[kind] - (lists[i]?.tasks.length ?? 0);
    return kind === undefined || count <= 0 ? [] : [{ kind: kind.replace('_', ' '), count }];
  });
  return { tasks: await Promise.all(tasks.map((task) => explainTask(client, jobId, task))), more };
}

function showWhy({ why }: Explained): string {
  const causes = why.because.map(
    (cause) =>
      `  because of ${cause.taskId} ${safeLine(cause.title, 100)}: ${cause.status}${cause.class === undefined ? '' : ` (${cause.class})`}`,
  );
  return [safeLine(why.text, 600), ...causes].join('\n');
}

async function why(
  jobId: string,
  named: string | number | undefined,
  options: WhyOptions,
  { terminal, config }: Context,
): Promise<void> {
  await withServer(config(), options, async (client) => {
    if (named !== undefined) {
      const taskId = await findTaskId(client, jobId, named);
      const explained = await explainTask(client, jobId, await client.tasks.get(jobId, taskId));
      return options.json
        ? terminal.data(`${safeJson(explained)}\n`)
        : printText(terminal, showWhy(explained));
    }
    const job = await client.jobs.get(jobId);
    const { tasks, more } = await readStuck(client, job);
    if (options.json) return terminal.data(`${safeJson({ job, tasks })}\n`);
    const none = tasks.length === 0 ? ['No task stands still.'] : [];
    const others = more.map(({ kind, count }) => `${count} more ${kind}`).join(', ');
    const rest = others === '' ? [] : [`And ${others}: \`crewboard board ${jobId} --by status\``];
    const plan =
      job.status === 'awaiting_approval' ? [`See its plan: \`crewboard approve ${jobId} --show\``] : [];
    await printText(terminal, [showJob(job), ...none, ...tasks.map(showWhy), ...rest, ...plan].join('\n'));
  });
}

/** `crewboard why JOB [TASK]`: why a job, or a task, is not further. */
export function addWhy(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('why')
      .description('Say why a task is where it is; without one, what keeps the job')
      .argument('<job>', 'the job ID', jobArgument)
      .argument('[task]', 'the task ID, or its number (the lead is 0)', taskArgument)
      .option('--json', 'print it as JSON'),
  ).action((jobId: string, task: string | number | undefined, options: WhyOptions) =>
    why(jobId, task, options, context),
  );
  withExamples(command, [
    'crewboard why job_4kx9m2ab7ycd',
    'crewboard why job_4kx9m2ab7ycd 12',
    'crewboard why job_4kx9m2ab7ycd t_4kx9m2ab --json | jq .why.because',
  ]);
}
