import type { Config, InspectedConfig } from './config.ts';
import type { ExitCode } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** What every command gets: the terminal, and the configuration, read when it is first asked for. */
export interface Context {
  terminal: Terminal;
  config(): Config;
  /** The configuration as far as it can be understood, with what is wrong in it. */
  inspectConfig(): InspectedConfig;
  /** Sets the code that the process ends with when the command resolves. */
  exitWith(code: ExitCode): void;
}
