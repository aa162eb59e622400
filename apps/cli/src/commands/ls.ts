import type { Client } from '@crewboard/client';
import { JOB_STATUSES, type Job, type JobList, type JobStatus, ProjectName } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { showJobs } from '../job-table.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { plural, safeJson, safeLine } from '../text.ts';
import { countArgument, parsedBy, statusOption } from './arguments.ts';
import { withExamples } from './help.ts';

interface LsOptions extends ServerFlags {
  status?: readonly JobStatus[];
  project?: string;
  limit: number;
  all?: true;
  json?: true;
}

const LIMIT_DEFAULT = 50;
const LIMIT_MOST = 10_000;
const PAGE_MOST = 100;
/** Jobs that are looked at for those asked for: no command may run without end. */
const LOOKED_AT_MOST = 100_000;

/** Reads jobs, newest first, until there are as many as wanted. */
async function readJobs(client: Client, options: LsOptions): Promise<{ list: JobList; hasMore: boolean }> {
  const wanted = options.all ? LOOKED_AT_MOST : options.limit;
  const isWanted = (job: Job) =>
    (options.status?.includes(job.status) ?? true) && (options.project ?? job.project) === job.project;
  const isFiltered = options.status !== undefined || options.project !== undefined;
  const jobs: Job[] = [];
  const unreadable: NonNullable<JobList['unreadable']> = [];
  let cursor: string | undefined;
  for (let lookedAt = 0; lookedAt < LOOKED_AT_MOST && jobs.length < wanted; lookedAt += PAGE_MOST) {
    const limit = isFiltered ? PAGE_MOST : Math.min(PAGE_MOST, wanted - jobs.length);
    const page = await client.jobs.list({ cursor, limit });
    jobs.push(...page.jobs.filter(isWanted));
    unreadable.push(...(page.unreadable ?? []));
    cursor = page.nextCursor;
    // One page holds them all; it is shorter than asked for when jobs of it can't be read.
    if (cursor === undefined || (!isFiltered && wanted <= PAGE_MOST)) break;
  }
  // A cursor after a page of which jobs are left out would lead past those.
  const isWhole = jobs.length <= wanted && cursor !== undefined;
  return {
    hasMore: jobs.length > wanted || cursor !== undefined,
    list: {
      jobs: jobs.slice(0, wanted),
      ...(unreadable.length === 0 ? {} : { unreadable }),
      ...(isWhole ? { nextCursor: cursor } : {}),
    },
  };
}

async function ls(options: LsOptions, { terminal, config }: Context): Promise<void> {
  const { list, hasMore } = await withServer(config(), options, (client) => readJobs(client, options));
  if (options.json) return terminal.data(`${safeJson(list)}\n`);
  for (const { id, reason } of list.unreadable ?? [])
    terminal.message(`${id} can't be read: ${safeLine(reason, 300)}`);
  if (list.jobs.length > 0) {
    await terminal.data(`${showJobs(list.jobs, terminal.dataColumns(), Date.now())}\n`);
    if (hasMore)
      terminal.message(`The newest ${plural(list.jobs.length, 'job')}; --limit N or --all shows more.`);
  } else if (list.unreadable === undefined) {
    const isFiltered = options.status !== undefined || options.project !== undefined;
    terminal.message(isFiltered ? 'There are no such jobs.' : 'No jobs yet: crewboard run FILE submits one');
  }
}

/** `crewboard ls`: the jobs that the key may see. */
export function addLs(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('ls')
      .description('List jobs, newest first')
      .addOption(statusOption('only jobs of this status', JOB_STATUSES))
      .option('--project <name>', 'only jobs of this project', parsedBy(ProjectName))
      .addOption(
        new Option('--limit <jobs>', 'how many to show')
          .argParser((text) => countArgument(text, LIMIT_MOST))
          .default(LIMIT_DEFAULT),
      )
      .option('--all', 'show all')
      .option('--json', 'print the list as JSON'),
  ).action((options: LsOptions) => ls(options, context));
  withExamples(command, [
    'crewboard ls',
    'crewboard ls --status running,paused',
    "crewboard ls --all --json | jq -r '.jobs[].id'",
  ]);
}
