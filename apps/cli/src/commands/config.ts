import type { Command } from 'commander';
import type { Config, Source } from '../config.ts';
import { CONFIG_KEYS, type Variable } from '../config-file.ts';
import type { Context } from '../context.ts';
import { type ServerFlags, withServerFlags } from '../server.ts';
import { safeJson, safeLine, table } from '../text.ts';
import { withExamples } from './help.ts';

interface ConfigOptions extends ServerFlags {
  json?: true;
}

/** One value as it counts; null when there is none. */
interface Setting {
  key: string;
  variable: Variable;
  value: string | number | null;
  source: Source;
}

const MASK = '***';
const VALUE_COLUMNS = 60;

const isSecret = (variable: Variable) => variable.endsWith('_API_KEY');
const hasPassword = (text: string) => URL.canParse(text) && new URL(text).password !== '';

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

function settingsOf(config: Config, { url, key: apiKey }: ServerFlags): Setting[] {
  const flags: Partial<Record<Variable, string | undefined>> = {
    CREWBOARD_URL: url,
    CREWBOARD_API_KEY: apiKey,
  };
  return [...CONFIG_KEYS].map(([key, variable]) => {
    const flag = flags[variable];
    return {
      key,
      variable,
      value: shownValue(variable, flag ?? config.environment[variable]),
      source: flag === undefined ? config.sourceOf(variable) : 'flag',
    };
  });
}

function warningsOf({ file, unknownVariables }: Config): string[] {
  const unknown = unknownVariables.map(({ name, nearest }) => {
    const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`;
    return `${safeLine(name, 80)} is set, and nothing reads it${meant}`;
  });
  if (file === undefined || !file.isReadByOthers) return unknown;
  const secrets = [...CONFIG_KEYS].filter(([, variable]) => {
    const value = file.variables[variable];
    return value !== undefined && (isSecret(variable) || hasPassword(value));
  });
  if (secrets.length === 0) return unknown;
  const names = secrets.map(([key]) => key).join(', ');
  return [
    `${file.path} holds ${names}, and others on this machine may read it: chmod 600 ${file.path}`,
    ...unknown,
  ];
}

async function showConfig(options: ConfigOptions, { terminal, config: read }: Context): Promise<void> {
  const config = read();
  const settings = settingsOf(config, options);
  const warnings = warningsOf(config);
  const file = config.file?.path ?? null;
  if (options.json) return terminal.data(`${safeJson({ file, settings, warnings })}\n`);
  const rows = settings.map(({ key, variable, value, source }) => [
    key,
    safeLine(String(value ?? '(not set)'), VALUE_COLUMNS),
    source,
    variable,
  ]);
  await terminal.data(`${table([['KEY', 'VALUE', 'SOURCE', 'VARIABLE'], ...rows])}\n`);
  terminal.message(file === null ? 'No configuration file is read.' : `The configuration file is ${file}.`);
  for (const warning of warnings) terminal.message(`warning: ${warning}`);
}

/** `crewboard config`: what counts, and where it comes from. */
export function addConfig(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('config')
      .description(
        'Print the configuration as it counts, and where each value comes from; secrets are masked',
      )
      .option('--json', 'print it as JSON'),
  ).action((options: ConfigOptions) => showConfig(options, context));
  withExamples(command, [
    'crewboard config',
    'crewboard config --json | jq -r \'.settings[] | select(.source != "default") | .key\'',
    'crewboard config --config staging.json',
  ]);
}
