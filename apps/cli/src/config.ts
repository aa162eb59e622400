import { resolve } from 'node:path';
import { type Environment, parseEnvironment } from '@crewboard/contracts';

/** What the environment says, read once; flags of the command line stand above it. */
export interface Config {
  environment: Environment;
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

/**
 * Reads the environment of this process (or `variables`).
 * Throws `invalid_argument` naming the variable that is wrong.
 */
export function readConfig(
  // biome-ignore lint/style/noProcessEnv: the one place of the CLI that reads the environment
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const environment = parseEnvironment(variables);
  const childVariables: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && value !== '' && isForChildren(name)) childVariables[name] = value;
  }
  return {
    environment,
    dataDir: resolve(environment.CREWBOARD_DATA_DIR),
    childVariables,
    npmScript: variables.npm_lifecycle_script || undefined,
  };
}
