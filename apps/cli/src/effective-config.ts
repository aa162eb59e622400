import { CrewboardError } from '@crewboard/contracts';
import type { Config, Source } from './config.ts';
import { CONFIG_KEYS, type Variable } from './config-file.ts';
import { findServer, type ServerFlags } from './server.ts';

/** One value as it counts; null when there is none. */
export interface Setting {
  key: string;
  variable: Variable;
  value: string | number | null;
  source: Source;
}

const MASK = '***';

/** True for a variable whose value is shown to nobody. */
export const isSecret = (variable: Variable) => variable.endsWith('_API_KEY');

/** A value without what nobody may read over one's shoulder: of a key only that it is set, of a URL not its password. */
function masked(variable: Variable, value: string): string {
  if (isSecret(variable)) return '(set)';
  if (!variable.endsWith('_URL') || !URL.canParse(value)) return value;
  const url = new URL(value);
  const mayHide = url.password !== '' || url.username !== '' || url.search !== '';
  if (!mayHide) return value;
  if (url.password !== '') url.password = MASK;
  else if (url.username !== '') url.username = MASK;
  if (url.search !== '') url.search = `?${MASK}`;
  return url.href;
}

function shownValue(variable: Variable, value: unknown): Setting['value'] {
  if (value === undefined) return null;
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(',');
  return masked(variable, String(value));
}

type Values = Partial<Record<Variable, { value: string; source: Source }>>;

/** What counts where neither a flag nor a variable nor the file says anything: it depends on machine and folders. */
async function defaultsHere({ environment }: Config, cwd: string): Promise<Values> {
  const values: Values = {};
  if (environment.CREWBOARD_WORKSPACES === undefined)
    values.CREWBOARD_WORKSPACES = { value: cwd, source: 'default' };
  if (environment.CREWBOARD_COMMANDS === undefined) {
    // Loaded here: it tries a sandbox, which no other command of this kind does.
    const { resolveCommandsMode } = await import('@crewboard/tools');
    values.CREWBOARD_COMMANDS = { value: await resolveCommandsMode(undefined), source: 'default' };
  }
  return values;
}

/** Where client commands go, and with which key. */
async function serverValues(config: Config, flags: ServerFlags): Promise<Values> {
  const { url, key } = await findServer(config, flags);
  return { CREWBOARD_URL: url, ...(key === undefined ? {} : { CREWBOARD_API_KEY: key }) };
}

/** Every setting as it counts for a command that is run in `cwd` with `flags`; secrets are masked. */
export async function effectiveSettings(
  config: Config,
  flags: ServerFlags,
  cwd: string,
): Promise<{ settings: Setting[]; faults: CrewboardError[] }> {
  const faults: CrewboardError[] = [];
  const ofServer = await serverValues(config, flags).catch((error: unknown): Values => {
    if (!(error instanceof CrewboardError)) throw error;
    faults.push(error);
    return {};
  });
  const values = { ...(await defaultsHere(config, cwd)), ...ofServer };
  const settings = [...CONFIG_KEYS].map(([key, variable]) => {
    const { value, source } = values[variable] ?? {
      value: config.environment[variable],
      source: config.sourceOf(variable),
    };
    return { key, variable, value: shownValue(variable, value), source };
  });
  return { settings, faults };
}
