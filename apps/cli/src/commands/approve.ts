import type { Client } from '@crewboard/client';
import { CrewboardError, type Job, type JobPlan, RejectPlanBody, type Task } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { printText } from '../print-text.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { showJob } from '../show.ts';
import type { Terminal } from '../terminal.ts';
import { plural, safeJson, safeLine, safeText } from '../text.ts';
import { jobArgument, parsedBy } from './arguments.ts';
import { withExamples } from './help.ts';

interface ApproveOptions extends ServerFlags {
  show?: true;
  reject?: true;
  text?: string;
  json?: true;
}

const TITLE_COLUMNS = 120;
/** Tasks that wait on the board already; the rest is counted. */
const BOARD_SHOWN = 20;

/** A plan for people: what the lead says of it, then a line a task with what it waits for; and what the board has. */
function showPlan({ version, text, tasks }: JobPlan, board: readonly Task[], onBoard: number): string {
  const lines = tasks.map(({ title, key, dependsOn = [] }) => {
    const names = dependsOn.map((one) => (typeof one === 'string' ? one : one.task));
    const named = key === undefined ? '' : ` [${safeLine(key, TITLE_COLUMNS)}]`;
    const after = names.length === 0 ? '' : ` after ${safeLine(names.join(', '), TITLE_COLUMNS)}`;
    return `- ${safeLine(title, TITLE_COLUMNS)}${named}${after}`;
  });
  const given = board.map(({ number, title }) => `- #${number} ${safeLine(title, TITLE_COLUMNS)}`);
  const more = onBoard > board.length ? [`... and ${onBoard - board.length} more`] : [];
  return [
    `Plan ${version}: ${plural(tasks.length, 'task')} to add.`,
    ...(text === undefined ? [] : [safeText(text)]),
    ...lines,
    ...(onBoard === 0 ? [] : [`With it start those on the board, ${onBoard} in all:`, ...given, ...more]),
  ].join('\n');
}

/** Prints the plan that waits, and decides nothing. */
async function show(
  client: Client,
  job: Job,
  plan: JobPlan,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  if (json) return terminal.data(`${safeJson(plan)}\n`);
  const { tasks } = await client.tasks.list(job.id, { status: 'pending', limit: BOARD_SHOWN });
  await printText(terminal, showPlan(plan, tasks, job.counts.pending));
}

async function decide(client: Client, job: Job, plan: JobPlan, options: ApproveOptions): Promise<Job> {
  const { version } = plan;
  if (!options.reject) return client.jobs.approvePlan(job.id, { version });
  return client.jobs.rejectPlan(
    job.id,
    options.text === undefined ? { version } : { version, text: options.text },
  );
}

async function approve(jobId: string, options: ApproveOptions, { terminal, config }: Context): Promise<void> {
  if (options.text !== undefined && !options.reject)
    throw new CrewboardError(
      'invalid_argument',
      '--text goes with --reject: an approved plan needs no words',
    );
  await withServer(config(), options, async (client) => {
    const job = await client.jobs.get(jobId);
    const { plan } = job;
    if (plan === undefined) {
      throw new CrewboardError(
        'invalid_transition',
        `no plan of ${jobId} waits for approval (${job.status})`,
      );
    }
    if (options.show) return show(client, job, plan, options.json ?? false, terminal);
    const decided = await decide(client, job, plan, options);
    if (options.json) return terminal.data(`${safeJson(decided)}\n`);
    terminal.message(`plan ${plan.version} ${options.reject ? 'rejected' : 'approved'}: ${showJob(decided)}`);
  });
}

/** `crewboard approve JOB`: the decision on the plan that waits. */
export function addApprove(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('approve')
      .description('Approve the plan of a job, so that its tasks start; or reject it')
      .argument('<job>', 'the job ID', jobArgument)
      .addOption(new Option('--show', 'print the plan and decide nothing').conflicts(['reject', 'text']))
      .option('--reject', 'the lead plans again; a job without a lead is cancelled')
      .option(
        '--text <text>',
        'with --reject: what the lead is told',
        parsedBy(RejectPlanBody.shape.text.unwrap()),
      )
      .option('--json', 'print the job (with --show: the plan) as JSON'),
  ).action((jobId: string, options: ApproveOptions) => approve(jobId, options, context));
  withExamples(command, [
    'crewboard approve job_4kx9m2ab7ycd --show',
    'crewboard approve job_4kx9m2ab7ycd',
    'crewboard approve job_4kx9m2ab7ycd --reject --text "one task a folder"',
  ]);
}
