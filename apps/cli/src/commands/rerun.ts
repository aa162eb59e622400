import type { Client } from '@crewboard/client';
import { CrewboardError, FailureClass, type RerunAnswer, RerunBody, RerunWhere } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { plural, safeJson } from '../text.ts';
import { collectedBy, countArgument, jobArgument, parsedBy, statusOption } from './arguments.ts';
import { withExamples } from './help.ts';

/** What the flags say, each checked by itself. */
interface RerunOptions extends ServerFlags {
  status?: ('completed' | 'failed' | 'cancelled')[];
  label?: string[];
  taskKey?: string;
  class?: FailureClass;
  instructions?: string;
  expectCount?: number;
  json?: true;
}

const COUNT_MOST = 1_000_000;
const STARTED_SHOWN = 5;

const STATUSES = ['completed', 'failed', 'cancelled'] as const;
const [Label] = RerunWhere.shape.label.unwrap().options;

function bodyOf(options: RerunOptions): RerunBody {
  const { status, label, taskKey: key, class: failureClass, instructions, expectCount } = options;
  const where = { status, label, key, class: failureClass };
  if (Object.values(where).every((value) => value === undefined))
    throw new CrewboardError(
      'invalid_argument',
      "say which tasks by at least one of --status, --label, --task-key and --class (--task-key '*': every task that has a key)",
    );
  return { where, instructions, expectCount };
}

/** A refusal in the words of this command: the server names the fields of its own. */
function inFlags(jobId: string, error: unknown): unknown {
  if (!(error instanceof CrewboardError)) return error;
  const list = `\`crewboard board ${jobId}\` lists its tasks`;
  if (error.extras.path === 'where')
    return new CrewboardError(error.code, `no ended task of ${jobId} has all that the flags name: ${list}`);
  if (error.extras.path !== 'expectCount') return error;
  const [found = ''] = /^\d+ tasks/.exec(error.detail) ?? [];
  const detail = `${found} match, which is not what --expect-count says: ${list}`;
  return new CrewboardError(error.code, detail);
}

async function send(client: Client, jobId: string, body: RerunBody): Promise<RerunAnswer> {
  try {
    return await client.jobs.rerun(jobId, body);
  } catch (error) {
    throw inFlags(jobId, error);
  }
}

async function rerun(jobId: string, options: RerunOptions, { terminal, config }: Context): Promise<void> {
  const body = bodyOf(options);
  const answer = await withServer(config(), options, (client) => send(client, jobId, body));
  if (options.json) return terminal.data(`${safeJson(answer)}\n`);
  const { matched, reopened, skipped, left, startedDependents: started } = answer;
  const parts = [
    `${plural(matched, 'task')} matched, ${reopened} run again`,
    ...(skipped > 0 ? [`${skipped} had changed meanwhile and were left as they are`] : []),
    ...(left > 0 ? [`${left} follow in a moment`] : []),
  ];
  terminal.message(`${jobId} ${answer.status}: ${parts.join(', ')}.`);
  if (started.length === 0) return;
  const more = started.length > STARTED_SHOWN ? ' and others' : '';
  terminal.message(
    `Started on an earlier result, and not run again: ${started.slice(0, STARTED_SHOWN).join(', ')}${more}.`,
  );
}

/** `crewboard rerun JOB`: runs the tasks that match again, and no others. */
export function addRerun(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('rerun')
      .description(
        'Run ended tasks of a job again, all that match every condition; the others stay as they are',
      )
      .argument('<job>', 'the job ID', jobArgument)
      .addOption(statusOption('how they ended', STATUSES))
      .option(
        '--label <label>',
        'a label that they have; repeated: all of them',
        collectedBy(parsedBy(Label)),
      )
      .option(
        '--task-key <glob>',
        'a pattern for the whole key: * any characters, ? one',
        parsedBy(RerunWhere.shape.key.unwrap()),
      )
      .addOption(new Option('--class <class>', 'the class of the failure').choices(FailureClass.options))
      .option(
        '--instructions <text>',
        'what their agents are told besides the instructions of the task',
        parsedBy(RerunBody.shape.instructions.unwrap()),
      )
      .option('--expect-count <n>', 'change nothing unless so many match', (text) =>
        countArgument(text, COUNT_MOST),
      )
      .option('--json', "print the server's answer as JSON"),
  ).action((jobId: string, options: RerunOptions) => rerun(jobId, options, context));
  withExamples(command, [
    'crewboard rerun job_4kx9m2ab7ycd --status failed,cancelled',
    'crewboard rerun job_4kx9m2ab7ycd --class check --instructions "Sums in euros"',
    'crewboard rerun job_4kx9m2ab7ycd --task-key "invoice-2024-*" --label late \\',
    '  --expect-count 12',
  ]);
}
