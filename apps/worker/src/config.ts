import { type Environment, parseEnvironment } from '@crewboard/contracts';

/** Reads the worker's configuration from the process environment. Throws `invalid_argument` naming the variable. */
export function readConfig(): Environment {
  // biome-ignore lint/style/noProcessEnv: this file is the one place of the worker that reads it
  return parseEnvironment(process.env);
}
