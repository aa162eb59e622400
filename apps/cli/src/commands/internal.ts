import type { CallOptions, Client } from '@crewboard/client';
import { JobId } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { passwordIn } from '../local/redis-state.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { portArgument } from './arguments.ts';

const port = () => new Option('--port <port>', 'the port to listen on').argParser(portArgument).default(0);

/** Who presses Tab does not wait longer. */
const IDS_WITHIN_MS = 2000;
const JOBS_MOST = 50;
const TASKS_MOST = 100;

/** Prints the IDs that `read` finds, or nothing when the server does not answer soon: a Tab has no place for an error. */
async function printIds(
  { terminal, config }: Context,
  flags: ServerFlags,
  read: (client: Client, options: CallOptions) => Promise<readonly { id: string }[]>,
): Promise<void> {
  const signal = AbortSignal.timeout(IDS_WITHIN_MS);
  const ask = async () => withServer(config(), flags, (client) => read(client, { signal }));
  for (const { id } of await ask().catch(() => [])) await terminal.data(`${id}\n`);
}

/** What completion asks for: the IDs of the newest jobs, and those of a job's first tasks. */
function addIds(program: Command, context: Context): void {
  withServerFlags(program.command('job-ids', { hidden: true })).action((flags: ServerFlags) =>
    printIds(
      context,
      flags,
      async (client, options) => (await client.jobs.list({ limit: JOBS_MOST }, options)).jobs,
    ),
  );
  withServerFlags(program.command('task-ids', { hidden: true }).argument('[job]')).action(
    async (jobId: string | undefined, flags: ServerFlags) => {
      if (!JobId.safeParse(jobId).success || jobId === undefined) return;
      await printIds(
        context,
        flags,
        async (client, options) => (await client.tasks.list(jobId, { limit: TASKS_MOST }, options)).tasks,
      );
    },
  );
}

/**
 * The hidden commands: those that completion asks, and those that `up` runs as children: each in a process of its own, so that it can't block another. The
 * embedded Redis has the password that its own REDIS_URL tells.
 */
export function addInternal(program: Command, context: Context): void {
  const { config } = context;
  addIds(program, context);
  program
    .command('embedded-redis', { hidden: true })
    .addOption(port())
    .action((options: { port: number }) =>
      runInForeground(async () => {
        const { startEmbeddedRedis } = await import('../local/embedded-redis.ts');
        return startEmbeddedRedis(options.port, passwordIn(config().environment.REDIS_URL));
      }),
    );
  program
    .command('simulated-model', { hidden: true })
    .addOption(port())
    .action((options: { port: number }) =>
      runInForeground(async () => {
        const { startSimulatedModel } = await import('@crewboard/simulated-model');
        return startSimulatedModel({ port: options.port });
      }),
    );
}
