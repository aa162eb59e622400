import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { runInForeground } from '../foreground.ts';
import { safeJson } from '../text.ts';
import { withExamples } from './help.ts';

/** `crewboard api`: the HTTP API in the foreground, for those who run each process themselves. */
export function addApi(program: Command, { terminal, config }: Context): void {
  const command = program
    .command('api')
    .description('Run the HTTP API in the foreground until Ctrl-C; needs REDIS_URL and CREWBOARD_API_KEY')
    .option('--json', 'print one line of JSON to stdout when it listens')
    .action((options: { json?: true }) =>
      runInForeground(async () => {
        const { runApi } = await import('@crewboard/api');
        const api = await runApi(config().environment);
        if (options.json) await terminal.data(`${safeJson({ url: api.url })}\n`);
        else terminal.message(`The API listens on ${api.url}`);
        return api;
      }, config().npmScript),
    );
  withExamples(command, ['REDIS_URL=redis://redis:6379 CREWBOARD_API_KEY=... crewboard api']);
}
