import { resolve } from 'node:path';
import { CrewboardError, Environment, nearestName, parseEnvironment } from '@crewboard/contracts';
import {
  CONFIG_FILE,
  type ConfigFile,
  NO_CONFIG_FILE,
  readConfigFile,
  type Variable,
} from './config-file.ts';
import type { ColourWish } from './terminal.ts';

/** What environment and configuration file say, read once; flags of the command line stand above it. */
export interface Config {
  environment: Environment;
  file: ConfigFile | undefined;
  /** Where the value of a variable comes from. */
  sourceOf(name: Variable): Source;
  /** Variables that look like ours and are not read, and what was meant, where that is plain. */
  unknownVariables: readonly UnknownVariable[];
  /** The data folder as an absolute path. */
  dataDir: string;
  /** The variables that `up` hands to its children: what programs need to run, and Crewboard's own. */
  childVariables: Readonly<Record<string, string>>;
  /** The command that npm or npx runs this process by, if one of them does. */
  npmScript: string | undefined;
}

/** Passed on to children besides CREWBOARD_*, ANTHROPIC_* and REDIS_URL; everything else stays behind. */
const SYSTEM_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SystemRoot',
  'TEMP',
];

function isForChildren(name: string): boolean {
  return (
    name === 'REDIS_URL' ||
    name.startsWith('CREWBOARD_') ||
    name.startsWith('ANTHROPIC_') ||
    SYSTEM_VARIABLES.includes(name)
  );
}

const OUR_PREFIX = /^CREWBOARD_/;

export interface UnknownVariable {
  name: string;
  nearest: string | undefined;
}

function unknownVariables(given: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  const known: readonly string[] = Environment.keyof().options;
  const bare = (name: string) => name.replace(OUR_PREFIX, '');
  return Object.keys(given)
    .filter((name) => OUR_PREFIX.test(name) && !known.includes(name))
    .map((name) => {
      // Without what all have in common: it would make any two names alike.
      const near = nearestName(bare(name), known.map(bare));
      return { name, nearest: known.find((each) => bare(each) === near) };
    });
}

/** Where a value comes from; the first that has one counts. */
export type Source = 'flag' | 'environment' | 'file' | 'data folder' | 'default';

function sourceFinder(
  variables: Readonly<Record<string, string | undefined>>,
  file: ConfigFile | undefined,
): Config['sourceOf'] {
  return (name) => {
    if (variables[name]) return 'environment';
    return file?.variables[name] ? 'file' : 'default';
  };
}

/** The flag, else the variable, else the file in the working directory if there is one. */
function findConfigFile(flag: string | undefined, variable: string | undefined): ConfigFile | undefined {
  const named = flag ?? (variable || undefined);
  return named === NO_CONFIG_FILE ? undefined : readConfigFile(named ?? CONFIG_FILE, named !== undefined);
}

/** The variables that are right, each by itself, and what is wrong with the others. */
function checkVariables(all: Readonly<Record<string, string | undefined>>): {
  right: Record<string, string | undefined>;
  faults: CrewboardError[];
} {
  const right: Record<string, string | undefined> = {};
  const faults: CrewboardError[] = [];
  for (const [name, value] of Object.entries(all)) {
    try {
      parseEnvironment({ [name]: value });
      right[name] = value;
    } catch (error) {
      if (!(error instanceof CrewboardError)) throw error;
      faults.push(error);
    }
  }
  return { right, faults };
}

/** A configuration as far as it can be understood, and what is wrong with the rest; the faults name where and what. */
export interface InspectedConfig {
  config: Config;
  faults: readonly CrewboardError[];
}

/**
 * Reads the environment of this process (or `variables`) and below it the configuration file, which `configFlag` may
 * name. What is wrong counts as absent and is told as a fault.
 */
export function inspectConfig(
  // biome-ignore lint/style/noProcessEnv: the one place of the CLI that reads the environment
  variables: Readonly<Record<string, string | undefined>> = process.env,
  configFlag?: string,
): InspectedConfig {
  const file = findConfigFile(configFlag, variables.CREWBOARD_CONFIG);
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value));
  const checked = checkVariables(given);
  const all: Record<string, string | undefined> = { ...file?.variables, ...checked.right };
  const environment = parseEnvironment(all);
  // Children are given all that the file says, and read no file: an edit must not break one that is started again.
  const childVariables: Record<string, string> = { CREWBOARD_CONFIG: NO_CONFIG_FILE };
  for (const [name, value] of Object.entries(all)) {
    if (name !== 'CREWBOARD_CONFIG' && value !== undefined && isForChildren(name))
      childVariables[name] = value;
  }
  const config: Config = {
    environment,
    file,
    sourceOf: sourceFinder(checked.right, file),
    unknownVariables: unknownVariables(given),
    dataDir: resolve(environment.CREWBOARD_DATA_DIR),
    childVariables,
    npmScript: variables.npm_lifecycle_script || undefined,
  };
  return { config, faults: [...(file?.faults ?? []), ...checked.faults] };
}

/**
 * Reads the configuration as {@link inspectConfig} does, for commands that act on it.
 * Throws `invalid_argument` naming the variable, or the file and its key, that is wrong.
 */
export function readConfig(
  variables?: Readonly<Record<string, string | undefined>>,
  configFlag?: string,
): Config {
  const { config, faults } = inspectConfig(variables, configFlag);
  const [fault] = faults;
  if (fault !== undefined) throw fault;
  return config;
}

/** What the user wants of colours: the last of `--color` and `--no-color`, else NO_COLOR, else FORCE_COLOR. */
export function readColourWish(
  args: readonly string[],
  // biome-ignore lint/style/noProcessEnv: the one place of the CLI that reads the environment
  variables: Readonly<Record<string, string | undefined>> = process.env,
): ColourWish {
  const { FORCE_COLOR: force, NO_COLOR: no } = variables;
  const flag = args.findLast((arg) => arg === '--color' || arg === '--no-color');
  if (flag !== undefined) return flag === '--color' ? 'always' : 'never';
  if (no) return 'never';
  if (force) return force === '0' || force === 'false' ? 'never' : 'always';
  return 'auto';
}

/** The variables by which Node tells what colours a terminal has; to Node an empty NO_COLOR says something, to users not. */
export function colourVariables(
  // biome-ignore lint/style/noProcessEnv: the one place of the CLI that reads the environment
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string | undefined>> {
  const { NO_COLOR: no, ...others } = variables;
  return no ? variables : others;
}
