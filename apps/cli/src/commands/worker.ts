import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { findRedis } from '../local/find-redis.ts';
import { safeJson } from '../text.ts';
import { withExamples } from './help.ts';

/** `crewboard worker`: one worker in the foreground; any number of them, on any machines, share the work. */
export function addWorker(program: Command, { terminal, config }: Context): void {
  const command = program
    .command('worker')
    .description('Run one worker in the foreground until Ctrl-C; needs REDIS_URL and a model')
    .option('--json', 'print one line of JSON to stdout when it takes tasks')
    .option(
      '--check',
      'start nothing: say whether a worker of this machine takes tasks, by the exit code, too',
    )
    .action(async (options: { json?: true; check?: true }) => {
      const say = async (text: string, json: object) =>
        options.json ? terminal.data(`${safeJson(json)}\n`) : terminal.message(text);
      if (options.check) {
        const { checkWorker } = await import('@crewboard/worker');
        const { environment } = config();
        await checkWorker({ ...environment, REDIS_URL: await findRedis(config()) });
        await say('A worker of this machine takes tasks', { ready: true });
        return;
      }
      await runInForeground(async () => {
        const { runWorker } = await import('@crewboard/worker');
        const worker = await runWorker(config().environment);
        await say('The worker takes tasks', { ready: true, pid: process.pid });
        return worker;
      }, config().npmScript);
    });
  withExamples(command, ['REDIS_URL=redis://redis:6379 ANTHROPIC_API_KEY=... crewboard worker']);
}
