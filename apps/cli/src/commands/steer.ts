import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { jobArgument, taskArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface SteerOptions extends ServerFlags {
  task?: string;
  json?: true;
}

async function steer(
  jobId: string,
  text: string,
  options: SteerOptions,
  { terminal, config }: Context,
): Promise<void> {
  const body = options.task === undefined ? { text } : { text, target: options.task };
  const answer = await withServer(config(), options, (client) => client.jobs.message(jobId, body));
  if (options.json) return terminal.data(`${safeJson(answer)}\n`);
  const reader = options.task === undefined ? 'the lead' : `the agent of ${options.task}`;
  terminal.message(`${answer.messageId} accepted: ${reader} is told before its next model call.`);
}

/** `crewboard steer JOB TEXT`: a word to the lead, or to the agent of a task. */
export function addSteer(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('steer')
      .description('Tell the lead of a job, or the agent of a task, something')
      .argument('<job>', 'the job ID', jobArgument)
      .argument('<text>', 'what to tell it')
      .option('--task <id>', 'the task whose agent is told', taskArgument)
      .option('--json', 'print the message ID as JSON'),
  ).action((jobId: string, text: string, options: SteerOptions) => steer(jobId, text, options, context));
  withExamples(command, [
    'crewboard steer job_4kx9m2ab7ycd "Leave the generated files out"',
    'crewboard steer job_4kx9m2ab7ycd "The glossary is in docs/terms.md" --task t_4kx9m2ab',
  ]);
}
