import type { Client } from '@crewboard/client';
import { CrewboardError, type MessageAnswer, MessageBody } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { findTaskId } from '../find-task.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { jobArgument, parsedBy, taskArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface SteerOptions extends ServerFlags {
  task?: string | number;
  json?: true;
}

async function send(client: Client, jobId: string, body: MessageBody): Promise<MessageAnswer> {
  try {
    return await client.jobs.message(jobId, body);
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    if (error.extras.path === 'target')
      throw new CrewboardError(
        error.code,
        `${jobId} has no lead: name the agent of a task with --task (\`crewboard board ${jobId}\` lists them)`,
      );
    if (error.code !== 'terminal') throw error;
    const whose = body.target === undefined ? '' : ` for ${body.target}`;
    const detail = `nobody reads a message${whose} in ${jobId} any more: ${error.detail.split('\n')[0]}`;
    throw new CrewboardError('terminal', detail, {}, { cause: error });
  }
}

async function steer(
  jobId: string,
  text: string,
  options: SteerOptions,
  { terminal, config }: Context,
): Promise<void> {
  const { task, json } = options;
  const { answer, target } = await withServer(config(), options, async (client) => {
    // The lead is task 0, and the server tells it without an ID.
    const target = task === undefined || task === 0 ? undefined : await findTaskId(client, jobId, task);
    const body = target === undefined ? { text } : { text, target };
    return { target, answer: await send(client, jobId, body) };
  });
  if (json) return terminal.data(`${safeJson(answer)}\n`);
  const told =
    target === undefined
      ? 'the lead is told before its next model call'
      : `whoever works on ${target} is told: an agent before its next model call, others with their next heartbeat`;
  terminal.message(`${answer.messageId} accepted: ${told}.`);
}

/** `crewboard steer JOB TEXT`: a word to the lead, or to the agent of a task. */
export function addSteer(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('steer')
      .description('Tell the lead of a job, or the agent of a task, something')
      .argument('<job>', 'the job ID', jobArgument)
      .argument('<text>', 'what to tell it', parsedBy(MessageBody.shape.text))
      .option('--task <task>', 'the ID or number of the task whose agent is told', taskArgument)
      .option('--json', 'print the message ID as JSON'),
  ).action((jobId: string, text: string, options: SteerOptions) => steer(jobId, text, options, context));
  withExamples(command, [
    'crewboard steer job_4kx9m2ab7ycd "Leave the generated files out"',
    'crewboard steer job_4kx9m2ab7ycd "The glossary is in docs/terms.md" --task 12',
  ]);
}
