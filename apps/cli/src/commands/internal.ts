import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { passwordIn } from '../local/redis-state.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { portArgument } from './arguments.ts';

const port = () => new Option('--port <port>', 'the port to listen on').argParser(portArgument).default(0);

/** Who presses Tab does not wait longer. */
const JOB_IDS_WITHIN_MS = 2000;

/** What completion asks for: job IDs, or nothing when the server does not answer soon. */
function addJobIds(program: Command, { terminal, config }: Context): void {
  withServerFlags(program.command('job-ids', { hidden: true })).action(async (flags: ServerFlags) => {
    const signal = AbortSignal.timeout(JOB_IDS_WITHIN_MS);
    const list = await withServer(config(), flags, (client) =>
      client.jobs.list({ limit: 50 }, { signal }),
    ).catch(() => undefined);
    for (const { id } of list?.jobs ?? []) await terminal.data(`${id}\n`);
  });
}

/**
 * The hidden commands that `up` runs as children: each in a process of its own, so that it can't block another. The
 * embedded Redis has the password that its own REDIS_URL tells.
 */
export function addInternal(program: Command, context: Context): void {
  const { config } = context;
  addJobIds(program, context);
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
