import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { type AskedCommand, findAsked, unknownCommand } from './asked-command.ts';
import { addApi } from './commands/api.ts';
import { addApprove } from './commands/approve.ts';
import { pathArgument } from './commands/arguments.ts';
import { addBoard } from './commands/board.ts';
import { addCancel } from './commands/cancel.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addDoctor } from './commands/doctor.ts';
import { withExamples } from './commands/help.ts';
import { addInternal } from './commands/internal.ts';
import { addKeys } from './commands/keys.ts';
import { addLs } from './commands/ls.ts';
import { addRerun } from './commands/rerun.ts';
import { addResults } from './commands/results.ts';
import { addRun } from './commands/run.ts';
import { addSteer } from './commands/steer.ts';
import { addSubmit } from './commands/submit.ts';
import { addTranscript } from './commands/transcript.ts';
import { addUp } from './commands/up.ts';
import { addWatch } from './commands/watch.ts';
import { addWhy } from './commands/why.ts';
import { addWorker } from './commands/worker.ts';
import { type Config, inspectConfig, readConfig } from './config.ts';
import { EXIT, type ExitCode, exitCodeOf, explain } from './failure.ts';
import type { Terminal } from './terminal.ts';
import { usageLine } from './usage-error.ts';

/** What stands above all commands; what `--color` and `--no-color` say is known before they are read. */
interface GlobalFlags {
  config?: string;
}

const EXIT_CODES = `
Exit codes:
  0    done, and the job, if one was followed, succeeded
  1    the job failed, is partial or was cancelled; or it can't be done as
       things stand; or the server failed or can't be reached
  2    what was given is wrong: flags, arguments, files, configuration, or the
       server refused it
  130  interrupted by Ctrl-C; \`up\`, \`api\` and \`worker\` stop by it and end with 0

crewboard COMMAND --help shows examples. Data goes to stdout, messages to
stderr.`;

function readVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

/**
 * Runs one command line (without node and script) and returns the exit code: 0 when it did what was asked and the
 * job, if any, succeeded; 1 when not; 2 when what was given is wrong; 130 after Ctrl-C. Never rejects.
 */
export async function runCli(
  args: readonly string[],
  terminal: Terminal,
  variables?: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  let config: Config | undefined;
  let asked: AskedCommand | undefined;
  const context = {
    terminal,
    config() {
      config ??= readConfig(variables, program.opts<GlobalFlags>().config);
      return config;
    },
    inspectConfig: () => inspectConfig(variables, program.opts<GlobalFlags>().config),
    exitWith(given: ExitCode) {
      code = given;
    },
  };
  const program = new Command('crewboard')
    .version(readVersion(), '-V, --version', 'print the version')
    .description('Runs large jobs with many agents on one shared todo board.')
    .configureOutput({
      writeOut: (text) => void terminal.data(text),
      writeErr: (text) => terminal.message(text.trimEnd()),
      outputError: (text, write) => write(usageLine(text, asked)),
    })
    // We make guesses of our own: commander's are far off at times.
    .showSuggestionAfterError(false)
    .configureHelp({ showGlobalOptions: true })
    .option(
      '--config <file>',
      'the configuration file (default: CREWBOARD_CONFIG, else crewboard.config.json)',
      pathArgument,
    )
    .option('--color', 'colours, also in a pipe; FORCE_COLOR=1 asks for them, too')
    .option('--no-color', 'no colours, as with NO_COLOR')
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  withExamples(program, [
    'crewboard up --example            start everything here and show a first job',
    'crewboard run job.json            submit a job, follow it, print its result',
    'crewboard results job_... | jq    one line of JSON a task, at any time',
  ]);
  addUp(program, context);
  addRun(program, context);
  addSubmit(program, context);
  addLs(program, context);
  addWatch(program, context);
  addBoard(program, context);
  addWhy(program, context);
  addRerun(program, context);
  addResults(program, context);
  addTranscript(program, context);
  addSteer(program, context);
  addApprove(program, context);
  addCancel(program, context);
  addDoctor(program, context);
  addKeys(program, context);
  addWorker(program, context);
  addApi(program, context);
  addConfig(program, context);
  addCompletion(program, context);
  addInternal(program, context);

  try {
    asked = findAsked(program, args);
    if (asked.unknown !== undefined) program.error(unknownCommand(asked));
    if (asked.isHelp) asked.command.help();
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    terminal.status(undefined);
    terminal.message(`crewboard: ${explain(error)}`);
    return exitCodeOf(error);
  }
}
