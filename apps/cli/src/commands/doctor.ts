import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import type { runDoctor } from '@crewboard/worker';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';
import { dataFolder, readState } from '../local/data-folder.ts';
import { localUrl, RedisState } from '../local/redis-state.ts';
import { plural, safeJson, safeLine, table } from '../text.ts';
import { jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

type Report = ReturnType<typeof runDoctor> extends AsyncGenerator<infer Item> ? Item : never;

interface DoctorOptions {
  repair?: true;
  json?: true;
}

/** REDIS_URL, else the Redis that `crewboard up` keeps in the data folder. */
async function findRedis({ environment, dataDir }: Config): Promise<string> {
  if (environment.REDIS_URL !== undefined) return environment.REDIS_URL;
  const folder = dataFolder(dataDir);
  const state = await readState(join(folder.redis, 'redis.json'), RedisState);
  if (state !== undefined) return localUrl(state.port, state.password);
  throw new CrewboardError(
    'invalid_argument',
    `REDIS_URL is not set and ${folder.root} keeps no Redis: run this where \`crewboard up\` keeps its data, or set REDIS_URL (an embedded Redis can't be looked at from outside)`,
  );
}

const mendText = (repairable: boolean) => (repairable ? 'can be mended' : '');

function showReport(report: Report): string {
  const { jobId, status, findings, more, archived, left } = report;
  if (archived) return `${jobId} archived: no board in Redis to look over`;
  if (left) return `${jobId} ${status}: left out, a submit is filling it`;
  const head = `${jobId} ${status ?? 'unreadable'}, ${plural(report.tasks, 'task')}`;
  if (findings.length === 0) return `${head}: healthy`;
  const rows = findings.map(({ check, taskId, found, expected, repairable, repaired }) => [
    `  ${check}`,
    taskId ?? '',
    safeLine(found, 80),
    `expected ${safeLine(expected, 80)}`,
    repaired ? 'mended' : mendText(repairable),
  ]);
  const rest = more > 0 ? `\n  … and ${more} more` : '';
  return `${head}: ${plural(findings.length + more, 'finding')}\n${table(rows)}${rest}`;
}

/** What came of all reports. */
interface Sum {
  boards: number;
  /** Boards that were not looked over, since a submit is filling them. */
  left: number;
  remaining: number;
  canMend: boolean;
}

/** What to do next, for people. */
function showEnd({ boards, left, remaining, canMend }: Sum): string {
  if (left > 0) {
    const those = left === 1 ? 'a submit is filling it' : 'submits are filling them';
    const rest = boards === 0 ? '' : ` ${showEnd({ boards, left: 0, remaining, canMend })}`;
    return `${plural(left, 'board')} left out: ${those}. Look again in a minute.${rest}`;
  }
  if (boards === 0) return 'There are no boards in Redis to look over.';
  if (remaining === 0) return `${plural(boards, 'board')}: nothing left to mend.`;
  const next = canMend
    ? 'crewboard doctor --repair mends what follows from other state'
    : 'what is left needs a person: see docs/board.md';
  return `${plural(boards, 'board')}: ${plural(remaining, 'finding')} left; ${next}.`;
}

/** Passes reports on; that there is no such job is said with its ID and what to do. */
async function* namingJob(jobId: string | undefined, reports: AsyncIterable<Report>): AsyncGenerator<Report> {
  try {
    yield* reports;
  } catch (error) {
    if (!(error instanceof CrewboardError) || error.code !== 'not_found' || jobId === undefined) throw error;
    throw new CrewboardError(
      'not_found',
      `no such job ${jobId} in this Redis: \`crewboard doctor\` looks over all that are there`,
    );
  }
}

async function doctor(
  jobId: string | undefined,
  options: DoctorOptions,
  { terminal, config, exitWith }: Context,
): Promise<void> {
  const redisUrl = await findRedis(config());
  const { runDoctor } = await import('@crewboard/worker');
  const prefix = config().environment.CREWBOARD_PREFIX;
  const sum: Sum = { boards: 0, left: 0, remaining: 0, canMend: false };
  const reports = runDoctor({ redisUrl, prefix, jobId, repair: options.repair });
  for await (const report of namingJob(jobId, reports)) {
    if (report.left) sum.left += 1;
    else if (!report.archived) sum.boards += 1;
    sum.remaining += report.remaining;
    sum.canMend ||= report.findings.some(({ repairable, repaired }) => repairable && !repaired);
    await terminal.data(`${options.json ? safeJson(report) : showReport(report)}\n`);
  }
  if (sum.remaining > 0) exitWith(EXIT.failed);
  terminal.message(showEnd(sum));
}

/** `crewboard doctor [JOB]`: looks over boards for what disagrees with itself. */
export function addDoctor(program: Command, context: Context): void {
  const command = program
    .command('doctor')
    .description('Check boards in Redis for damage; exit code 1 when something is left to mend')
    .argument('[job]', 'the job ID (default: all jobs)', jobArgument)
    .option(
      '--repair',
      'mend what follows from other state: counts, indexes, counters; never a status or a result',
    )
    .option('--json', 'print one line of JSON a board')
    .action((jobId: string | undefined, options: DoctorOptions) => doctor(jobId, options, context));
  withExamples(command, [
    'crewboard doctor',
    'crewboard doctor job_4kx9m2ab7ycd --repair',
    'REDIS_URL=redis://redis:6379 crewboard doctor --json',
  ]);
}
