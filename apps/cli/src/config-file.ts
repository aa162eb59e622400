import { readFileSync, statSync } from 'node:fs';
import { delimiter } from 'node:path';
import { CrewboardError, Environment, nearestName, parseEnvironment } from '@crewboard/contracts';
import { z } from 'zod';
import { readingTrouble } from './file-trouble.ts';
import { type JsonScan, scanJson } from './scan-json.ts';
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

/** A configuration file as the variables that it stands for, as far as it can be understood. */
export interface ConfigFile {
  path: string;
  /** What is wrong in it, one line each, with what to write. */
  faults: readonly CrewboardError[];
  variables: Readonly<Partial<Record<Variable, string>>>;
  /** True when other users of this machine may read it. */
  isReadByOthers: boolean;
}

const refuse = (place: string, what: string) => new CrewboardError('invalid_argument', `${place}: ${what}`);

/** Returns the text of the file; undefined when there is none and none was named. */
function readText(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (!isNamed && error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const detail = `the configuration file ${readingTrouble(error, path)}`;
    throw new CrewboardError('invalid_argument', detail, {}, { cause: error });
  }
}

function parseFields(path: string, text: string, { fault }: JsonScan): Record<string, unknown> {
  try {
    const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    if (fault !== undefined) throw refuse(path, fault);
    return fields;
  } catch (error) {
    if (error instanceof CrewboardError) throw error;
    if (error instanceof z.ZodError) throw refuse(path, 'must be a JSON object such as {"port": 8000}');
    // The engine's own words repeat a piece of the text, which may be a key.
    throw refuse(path, `is not JSON: ${fault ?? 'check commas and quotes (comments are not allowed)'}`);
  }
}

const Scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A value of the file as its variable would hold it. */
function textOf(place: string, key: string, variable: Variable, value: unknown): string {
  const separator = SEPARATORS[variable];
  const list = z.array(z.string()).safeParse(value);
  if (separator !== undefined && list.success) return list.data.join(separator);
  const scalar = Scalar.safeParse(value);
  if (scalar.success) return String(scalar.data);
  const orList = separator === undefined ? '' : ' or an array of strings';
  throw refuse(place, `${key} must be a string, a number or a boolean${orList}`);
}

/** Checks a value by itself, so that what is wrong is told by the name that it has in the file. */
function check(place: string, key: string, variable: Variable, text: string): void {
  try {
    parseEnvironment({ [variable]: text });
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    throw refuse(place, `${key} ${error.detail.slice(variable.length + 1)}`);
  }
}

function variableFor(place: string, key: string): Variable {
  const variable = CONFIG_KEYS.get(key);
  if (variable !== undefined) return variable;
  const nearest = nearestName(key.replace(/^crewboard_?/i, ''), [...CONFIG_KEYS.keys()]);
  const hint = nearest === undefined ? '`crewboard config` lists all keys' : `did you mean "${nearest}"?`;
  throw refuse(place, `there is no key "${safeLine(key, 60)}": ${hint}`);
}

/** The variable that stands for one key at `place` (file and line), and its value. */
function entryOf(place: string, key: string, value: unknown): readonly [Variable, string] {
  const variable = variableFor(place, key);
  const text = textOf(place, key, variable, value);
  check(place, key, variable, text);
  return [variable, text];
}

/** The variables of a file's text, and what is wrong in it by line and key. */
function parseFile(path: string, text: string): Pick<ConfigFile, 'variables' | 'faults'> {
  const variables: Partial<Record<Variable, string>> = {};
  const faults: CrewboardError[] = [];
  const scan = scanJson(text);
  for (const [key, value] of Object.entries(parseFields(path, text, scan))) {
    const line = scan.lineOfKey.get(key);
    try {
      const [variable, held] = entryOf(line === undefined ? path : `${path}: line ${line}`, key, value);
      variables[variable] = held;
    } catch (error) {
      if (!(error instanceof CrewboardError)) throw error;
      faults.push(error);
    }
  }
  return { variables, faults };
}

/**
 * Reads a configuration file, as far as it can be understood: its `faults` name the file, the line and the key.
 * Undefined when there is none and `isNamed` is false.
 */
export function readConfigFile(path: string, isNamed: boolean): ConfigFile | undefined {
  try {
    const text = readText(path, isNamed);
    if (text === undefined) return undefined;
    return { path, ...parseFile(path, text), isReadByOthers: (statSync(path).mode & 0o044) !== 0 };
  } catch (error) {
    if (!(error instanceof CrewboardError)) throw error;
    return { path, variables: {}, faults: [error], isReadByOthers: false };
  }
}
