import { CrewboardError, FAILURE_CLASSES, type RerunBody } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { countArgument, jobArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface RerunOptions extends ServerFlags {
  status?: 'completed' | 'failed' | 'cancelled';
  label?: string[];
  taskKey?: string;
  class?: NonNullable<RerunBody['where']['class']>;
  instructions?: string;
  expectCount?: number;
  json?: true;
}

async function rerun(job: string, options: RerunOptions, { terminal, config }: Context): Promise<void> {
  const { status, label, taskKey, class: failureClass, instructions, expectCount } = options;
  if ([status, label, taskKey, failureClass].every((condition) => condition === undefined)) {
    throw new CrewboardError(
      'invalid_argument',
      'say which tasks: --status failed, or --label, --task-key or --class',
    );
  }
  const where = { status, label, key: taskKey, class: failureClass };
  const answer = await withServer(config(), options, (client) =>
    client.jobs.rerun(job, { where, instructions, expectCount }),
  );
  await terminal.data(`${options.json ? safeJson(answer) : answer.matched}\n`);
  if (answer.matched === 0) return terminal.message('No ended task matches: nothing was changed');
  terminal.message(`Run again: ${answer.matched} of ${job}; follow them with \`crewboard board ${job}\``);
}

const COUNT_MOST = 1_000_000;

/** `crewboard rerun JOB`: the ended tasks that match once more. */
export function addRerun(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('rerun')
      .description(
        'Run the ended tasks of a job that match all conditions again, and print how many they are',
      )
      .argument('<job>', "the job's ID", jobArgument)
      .addOption(
        new Option('--status <status>', 'only tasks with this status').choices([
          'completed',
          'failed',
          'cancelled',
        ]),
      )
      .option('--label <label...>', 'only tasks that have all of these labels')
      .option('--task-key <pattern>', 'only tasks whose key fits: * stands for any characters, ? for one')
      .addOption(
        new Option('--class <class>', 'only tasks that failed with this class').choices(FAILURE_CLASSES),
      )
      .option('--instructions <text>', "what is put below the tasks' own instructions")
      .option('--expect-count <number>', 'change nothing when another number matches', (text) =>
        countArgument(text, COUNT_MOST),
      )
      .option('--json', "print the server's answer as JSON"),
  ).action((job: string, options: RerunOptions) => rerun(job, options, context));
  withExamples(command, [
    'crewboard rerun job_4kx9m2ab7ycd --status failed',
    "crewboard rerun job_4kx9m2ab7ycd --task-key 'pages/de/*' --instructions 'Keep the links'",
    'crewboard rerun job_4kx9m2ab7ycd --status failed --class timeout --expect-count 30',
  ]);
}
