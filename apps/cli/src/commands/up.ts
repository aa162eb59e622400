import { once } from 'node:events';
import { type Command, Option } from 'commander';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, explain, Interrupted } from '../failure.ts';
import { type Interrupt, listenForInterrupt, NpmGone } from '../interrupt.ts';
import { isEverywhere } from '../local/address.ts';
import type { Instance } from '../local/instance.ts';
import type { Terminal } from '../terminal.ts';
import { safeJson, shortPath } from '../text.ts';
import { portArgument } from './arguments.ts';
import type { Example } from './example.ts';
import { withExamples } from './help.ts';

interface UpOptions {
  example?: true;
  port?: number;
  json?: true;
}

const GRACE_MS = 10_000;

const STOPPING = `
Ctrl-C stops everything in order, and that is a good end: exit code 0. A second
one forces it (130), as does one before everything is up. 1: a part did not
start. Unfinished jobs go on with the next \`crewboard up\`.`;

/** Says what runs and where to look; paths as one would type them from here. */
function readyLines(instance: Instance): string[] {
  const { url, host, folder, redis, simulated } = instance;
  // A URL with the address of all interfaces leads nowhere in most programs, so the links are this machine's own.
  const others = isEverywhere(host) ? ` (listens on ${host}: other machines reach it, too)` : '';
  return [
    '',
    'Crewboard is up.',
    `  API     ${url}/v1${others}`,
    `  Queues  ${url}/admin/queues (log in with the API key)`,
    `  Key     in ${shortPath(folder.keyFile)}`,
    `  Redis   ${redis.text.replace(folder.redis, shortPath(folder.redis))}`,
    `  Model   ${simulated ? 'SIMULATED' : 'Anthropic Messages API'}`,
    `  Logs    in ${shortPath(folder.logs)}`,
    '',
  ];
}

async function announce(instance: Instance, json: boolean, terminal: Terminal): Promise<void> {
  if (!json) {
    for (const line of readyLines(instance)) terminal.message(line);
    return;
  }
  const { url, folder, redis, simulated } = instance;
  const ready = { url, dataDir: folder.root, redis: redis.kind, simulated, pids: instance.pids() };
  await terminal.data(`${safeJson(ready)}\n`);
}

/** Shows the example; its failure is told and leaves the instance running, for a look at what went wrong. */
async function showExample(
  example: Example | undefined,
  instance: Instance,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  try {
    await example?.run(instance, terminal, signal);
  } catch (error) {
    if (!signal.aborted) terminal.message(`The example did not come to its end: ${explain(error)}`);
  }
}

async function stopInstance(
  instance: Instance,
  { signal, force }: Interrupt,
  terminal: Terminal,
): Promise<ExitCode> {
  terminal.status(undefined);
  const why = signal.reason instanceof NpmGone ? `, as ${signal.reason.message}` : '';
  terminal.message(`Stopping${why} (Ctrl-C again to force it) ...`);
  await instance.stop({ graceMs: GRACE_MS, force });
  if (force.aborted) return EXIT.interrupted;
  const goesOn =
    instance.redis.kind === 'embedded' ? '' : ' Unfinished jobs go on with the next `crewboard up`.';
  terminal.message(`Stopped.${goesOn}`);
  return EXIT.ok;
}

async function start(options: UpOptions, config: Config, terminal: Terminal, signal: AbortSignal) {
  // Loaded here: no other command needs Redis, and each import makes every start slower.
  const { startInstance } = await import('../local/instance.ts');
  const example = options.example && (await (await import('./example.ts')).findExample(config));
  const port = options.port ?? config.environment.CREWBOARD_PORT;
  const report = (line: string) => terminal.message(line);
  try {
    const instance = await startInstance({ config, port, report, workspaces: example?.workspaces }, signal);
    return { instance, example };
  } catch (error) {
    if (signal.aborted) throw new Interrupted('interrupted; nothing is left running');
    throw error;
  }
}

async function up(options: UpOptions, { config, terminal }: Context): Promise<ExitCode> {
  const interrupt = listenForInterrupt(config().npmScript);
  try {
    const { instance, example } = await start(options, config(), terminal, interrupt.signal);
    await announce(instance, options.json === true, terminal);
    await showExample(example, instance, terminal, interrupt.signal);
    if (!interrupt.signal.aborted) {
      terminal.message('Runs until Ctrl-C.');
      await once(interrupt.signal, 'abort');
    }
    return await stopInstance(instance, interrupt, terminal);
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
    .addHelpText('after', STOPPING)
    .action(async (options: UpOptions) => context.exitWith(await up(options, context)));
  withExamples(command, [
    'crewboard up                          start; Ctrl-C stops',
    'crewboard up --example                start and show a first job',
    'ANTHROPIC_API_KEY=... crewboard up    with real agents',
    'crewboard up --port 8000',
  ]);
}
