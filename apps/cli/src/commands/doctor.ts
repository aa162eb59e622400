import { CrewboardError } from '@crewboard/contracts';
import type { runDoctor } from '@crewboard/worker';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';
import { findRedis } from '../local/find-redis.ts';
import { plural, safeJson, safeLine, table } from '../text.ts';
import { jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

type Report = ReturnType<typeof runDoctor> extends AsyncGenerator<infer Item> ? Item : never;

interface DoctorOptions {
  repair?: true;
  json?: true;
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

function count(sum: Sum, report: Report): void {
  if (report.left) sum.left += 1;
  else if (!report.archived) sum.boards += 1;
  sum.remaining += report.remaining;
  sum.canMend ||= report.findings.some(({ repairable, repaired }) => repairable && !repaired);
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

/** What to do about a failure, said with it. */
function explained(error: unknown, jobId: string | undefined, isFromFolder: boolean): unknown {
  if (!(error instanceof CrewboardError)) return error;
  if (error.code === 'not_found' && jobId !== undefined) {
    return new CrewboardError(
      'not_found',
      `no such job ${jobId} in this Redis: \`crewboard doctor\` looks over all that are there`,
    );
  }
  if (error.code !== 'unavailable' || !isFromFolder) return error;
  const next = 'it runs with `crewboard up` on this data folder; start that, or set REDIS_URL';
  return new CrewboardError('unavailable', `${error.detail}: ${next}`, {}, { cause: error });
}

async function doctor(
  jobId: string | undefined,
  options: DoctorOptions,
  { terminal, config, exitWith }: Context,
): Promise<void> {
  const redisUrl = await findRedis(config());
  const { runDoctor } = await import('@crewboard/worker');
  const { CREWBOARD_PREFIX: prefix, REDIS_URL } = config().environment;
  const sum: Sum = { boards: 0, left: 0, remaining: 0, canMend: false };
  try {
    for await (const report of runDoctor({ redisUrl, prefix, jobId, repair: options.repair })) {
      count(sum, report);
      await terminal.data(`${options.json ? safeJson(report) : showReport(report)}\n`);
    }
  } catch (error) {
    throw explained(error, jobId, REDIS_URL === undefined);
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
