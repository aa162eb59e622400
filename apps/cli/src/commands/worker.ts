import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { withExamples } from './help.ts';

/** `crewboard worker`: one worker in the foreground; any number of them, on any machines, share the work. */
export function addWorker(program: Command, { terminal }: Context): void {
  const command = program
    .command('worker')
    .description('Run one worker in the foreground until Ctrl-C; needs REDIS_URL and a model')
    .action(() =>
      runInForeground(async () => {
        const { runWorker } = await import('@crewboard/worker');
        const worker = await runWorker();
        terminal.message('The worker takes tasks');
        return worker;
      }),
    );
  withExamples(command, ['REDIS_URL=redis://redis:6379 ANTHROPIC_API_KEY=... crewboard worker']);
}
