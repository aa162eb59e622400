import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { passwordIn } from '../local/redis-state.ts';
import { portArgument } from './arguments.ts';

const port = () => new Option('--port <port>', 'the port to listen on').argParser(portArgument).default(0);

/**
 * The hidden commands that `up` runs as children: each in a process of its own, so that it can't block another. The
 * embedded Redis has the password that its own REDIS_URL tells.
 */
export function addInternal(program: Command, { config }: Context): void {
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
