import { readFileSync, statSync } from 'node:fs';
import { delimiter } from 'node:path';
import { CrewboardError, Environment, nearestName, parseEnvironment } from '@crewboard/contracts';
import { z } from 'zod';
import { safeLine } from './text.ts';

export type Variable = keyof Environment;

/** Read from the working directory when neither a flag nor a variable names another. */
export const CONFIG_FILE = 'crewboard.config.json';
/** Given in the place of a file's name: there is none to read. */
export const NO_CONFIG_FILE = '-';

/** What only the environment can say: which file to read, and what `up` tells its children. */
const NOT_IN_FILES: ReadonlySet<Variable> = new Set(['CREWBOARD_CONFIG', 'CREWBOARD_SIMULATED_MODEL_URL']);

/** What stands between the parts of a list in its variable; in the file they are an array, too. */
const SEPARATORS: Partial<Record<Variable, string>> = {
  CREWBOARD_WORKSPACES: delimiter,
  CREWBOARD_CORS_ORIGINS: ',',
  CREWBOARD_TRUSTED_PROXIES: ',',
};

/** The name of a variable's value in the file: `CREWBOARD_DATA_DIR` is `dataDir`. */
function keyOf(variable: Variable): string {
  return variable
    .replace(/^CREWBOARD_/, '')
    .toLowerCase()
    .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Every key of the file, and the variable that it stands for. */
export const CONFIG_KEYS: ReadonlyMap<string, Variable> = new Map(
  Environment.keyof()
    .options.filter((variable) => !NOT_IN_FILES.has(variable))
    .map((variable) => [keyOf(variable), variable]),
);

/** A configuration file as the variables that it stands for. */
export interface ConfigFile {
  path: string;
  variables: Readonly<Partial<Record<Variable, string>>>;
  /** True when other users of this machine may read it. */
  isReadByOthers: boolean;
}

const refuse = (path: string, what: string) => new CrewboardError('invalid_argument', `${path}: ${what}`);

/** Returns the text of the file; undefined when there is none and none was named. */
function readText(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!isNamed && error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw new CrewboardError('invalid_argument', `the configuration file can't be read: ${why}`);
  }
}

function parseFields(path: string, text: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text.replace(/^\ufeff/, '')));
  } catch (error) {
    if (error instanceof z.ZodError) throw refuse(path, 'must be a JSON object such as {"port": 8000}');
    // The engine's own words repeat a piece of the text, which may be a key.
    throw refuse(path, 'is not JSON: check commas and quotes (comments are not allowed)');
  }
}

const Scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A value of the file as its variable would hold it. */
function textOf(path: string, key: string, variable: Variable, value: unknown): string {
  const separator = SEPARATORS[variable];
  const list = z.array(z.string()).safeParse(value);
  if (separator !== undefined && list.success) return list.data.join(separator);
  const scalar = Scalar.safeParse(value);
  if (scalar.success) return String(scalar.data);
  const orList = separator === undefined ? '' : ' or an array of strings';
  throw refuse(path, `${key} must be a string, a number or a boolean${orList}`);
}

/** Checks a value by itself, so that what is wrong is told by the name that it has in the file. */
function check(path: string, key: string, variable: Variable, text: string): void {
  try {
    parseEnvironment({ [variable]: text });
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    throw refuse(path, `${key} ${error.detail.slice(variable.length + 1)}`);
  }
}

function variableFor(path: string, key: string): Variable {
  const variable = CONFIG_KEYS.get(key);
  if (variable !== undefined) return variable;
  const nearest = nearestName(key.replace(/^crewboard_?/i, ''), [...CONFIG_KEYS.keys()]);
  const hint = nearest === undefined ? '`crewboard config` lists all keys' : `did you mean "${nearest}"?`;
  throw refuse(path, `there is no key "${safeLine(key, 60)}": ${hint}`);
}

/**
 * Reads a configuration file; undefined when there is none and `isNamed` is false. Throws `invalid_argument` naming the
 * file and the key that is wrong.
 */
export function readConfigFile(path: string, isNamed: boolean): ConfigFile | undefined {
  const text = readText(path, isNamed);
  if (text === undefined) return undefined;
  const variables: Partial<Record<Variable, string>> = {};
  for (const [key, value] of Object.entries(parseFields(path, text))) {
    const variable = variableFor(path, key);
    variables[variable] = textOf(path, key, variable, value);
    check(path, key, variable, variables[variable]);
  }
  return { path, variables, isReadByOthers: (statSync(path).mode & 0o044) !== 0 };
}
