import { once } from 'node:events';
import { relative } from 'node:path';
import { type Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, Interrupted } from '../failure.ts';
import { type Interrupt, listenForInterrupt } from '../interrupt.ts';
import type { Instance } from '../local/instance.ts';
import { safeJson } from '../text.ts';
import { portArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface UpOptions {
  example?: true;
  port?: number;
  json?: true;
}

const GRACE_MS = 10_000;

/** Says what runs and where to look; paths as one would type them from here. */
function readyLines(instance: Instance): string[] {
  const here = (path: string) => relative('', path) || path;
  const { url, folder, redis, simulated } = instance;
  return [
    '',
    'Crewboard is up.',
    `  API     ${url}/v1`,
    `  Queues  ${url}/admin/queues (log in with any user name; the password is the API key)`,
    `  Key     in ${here(folder.keyFile)}`,
    `  Redis   ${redis.text.replace(folder.redis, here(folder.redis))}`,
    `  Model   ${simulated ? 'SIMULATED' : 'Anthropic Messages API'}`,
    `  Logs    in ${here(folder.logs)}`,
    '',
  ];
}

async function untilStopped(instance: Instance, interrupt: Interrupt, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort');
  terminal.status(undefined);
  terminal.message('Stopping (Ctrl-C again to force it) ...');
  await instance.stop({ graceMs: GRACE_MS, force: interrupt.force });
  if (interrupt.force.aborted) return EXIT.interrupted;
  terminal.message(
    instance.redis.kind === 'embedded'
      ? 'Stopped.'
      : 'Stopped. Unfinished jobs go on with the next `crewboard up`.',
  );
  return EXIT.ok;
}

async function up(options: UpOptions, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const config = context.config();
  const interrupt = listenForInterrupt();
  // Loaded here: no other command needs Redis, and each import makes every start slower.
  const [{ startInstance }, example] = await Promise.all([
    import('../local/instance.ts'),
    options.example ? import('./example.ts').then(({ findExample }) => findExample(config)) : undefined,
  ]);
  try {
    const port = options.port ?? config.environment.CREWBOARD_PORT;
    const report = (line: string) => terminal.message(line);
    const instance = await startInstance(
      { config, port, report, workspaces: example?.workspaces },
      interrupt.signal,
    );
    if (options.json) {
      const { url, folder, redis, simulated } = instance;
      const ready = { url, dataDir: folder.root, redis: redis.kind, simulated, pids: instance.pids() };
      await terminal.data(`${safeJson(ready)}\n`);
    } else {
      for (const line of readyLines(instance)) terminal.message(line);
    }
    await example?.run(instance, terminal, interrupt.signal);
    if (!interrupt.signal.aborted) terminal.message('Runs until Ctrl-C.');
    return await untilStopped(instance, interrupt, context);
  } catch (error) {
    if (interrupt.signal.aborted) throw new Interrupted('interrupted; nothing is left running');
    throw error;
  } finally {
    interrupt.release();
  }
}

/** `crewboard up`: all of Crewboard on this machine, in the foreground. */
export function addUp(program: Command, context: Context): void {
  const command = program
    .command('up')
    .description(
      'Run all of Crewboard on this machine: Redis, API, one worker, and a model when there is no key',
    )
    .addOption(new Option('--example', 'run the example job first, if there is no job yet').conflicts('json'))
    .addOption(
      new Option(
        '--port <port>',
        'port of the API (default: CREWBOARD_PORT or 7420; 0: a free one)',
      ).argParser(portArgument),
    )
    .addOption(new Option('--json', 'print one line of JSON to stdout when everything is up'))
    .action(async (options: UpOptions) => context.exitWith(await up(options, context)));
  withExamples(command, [
    'crewboard up                          start; Ctrl-C stops',
    'crewboard up --example                start and show a first job',
    'ANTHROPIC_API_KEY=... crewboard up    with real agents',
    'crewboard up --port 8000',
  ]);
}
