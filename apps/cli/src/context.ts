import type { Config } from './config.ts';
import type { ExitCode } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** What every command gets: the terminal, and the configuration, read when it is first asked for. */
export interface Context {
  terminal: Terminal;
  config(): Config;
  /** Sets the code that the process ends with when the command resolves. */
  exitWith(code: ExitCode): void;
}
