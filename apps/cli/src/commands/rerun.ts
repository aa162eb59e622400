import { FailureClass, parseOrThrow, RerunBody } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { plural, safeJson } from '../text.ts';
import { countArgument, jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface RerunOptions extends ServerFlags {
  status?: string[];
  label?: string[];
  taskKey?: string;
  class?: string;
  instructions?: string;
  expectCount?: number;
  json?: true;
}

const COUNT_MOST = 1_000_000;
const STARTED_SHOWN = 5;

/** Gathers the values of an option that may be repeated. */
const collect = (value: string, before: string[] = []) => [...before, value];

function bodyOf({
  status,
  label,
  taskKey: key,
  class: failureClass,
  instructions,
  expectCount,
}: RerunOptions) {
  const where = { status, label, key, class: failureClass };
  return parseOrThrow(RerunBody, { where, instructions, expectCount }, 'the rerun');
}

async function rerun(jobId: string, options: RerunOptions, { terminal, config }: Context): Promise<void> {
  const body = bodyOf(options);
  const answer = await withServer(config(), options, (client) => client.jobs.rerun(jobId, body));
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
      .option('--status <status>', 'how they ended: completed, failed or cancelled; may be repeated', collect)
      .option('--label <label>', 'a label that they have; repeated: all of them', collect)
      .option('--task-key <glob>', 'a pattern for the whole key: * any characters, ? one')
      .addOption(new Option('--class <class>', 'the class of the failure').choices(FailureClass.options))
      .option('--instructions <text>', 'what their agents are told besides the instructions of the task')
      .option('--expect-count <n>', 'change nothing unless so many match', (text) =>
        countArgument(text, COUNT_MOST),
      )
      .option('--json', "print the server's answer as JSON"),
  ).action((jobId: string, options: RerunOptions) => rerun(jobId, options, context));
  withExamples(command, [
    'crewboard rerun job_4kx9m2ab7ycd --status failed',
    'crewboard rerun job_4kx9m2ab7ycd --class check --instructions "Amounts are in euros"',
    'crewboard rerun job_4kx9m2ab7ycd --task-key "invoice-2024-*" --label late --expect-count 12',
  ]);
}
