import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { safeJson } from '../text.ts';
import { withExamples } from './help.ts';

/** `crewboard worker`: one worker in the foreground; any number of them, on any machines, share the work. */
export function addWorker(program: Command, { terminal, config }: Context): void {
  const command = program
    .command('worker')
    .description('Run one worker in the foreground until Ctrl-C; needs REDIS_URL and a model')
    .option('--json', 'print one line of JSON to stdout when it takes tasks')
    .action((options: { json?: true }) =>
      runInForeground(async () => {
        const { runWorker } = await import('@crewboard/worker');
        const worker = await runWorker();
        if (options.json) await terminal.data(`${safeJson({ ready: true, pid: process.pid })}\n`);
        else terminal.message('The worker takes tasks');
        return worker;
      }, config().npmScript),
    );
  withExamples(command, ['REDIS_URL=redis://redis:6379 ANTHROPIC_API_KEY=... crewboard worker']);
}
