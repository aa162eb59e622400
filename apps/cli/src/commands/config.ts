import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { CONFIG_KEYS } from '../config-file.ts';
import type { Context } from '../context.ts';
import { effectiveSettings, isSecret } from '../effective-config.ts';
import { EXIT, explain } from '../failure.ts';
import { type ServerFlags, withServerFlags } from '../server.ts';
import type { Terminal } from '../terminal.ts';
import { safeJson, safeLine, table } from '../text.ts';
import { withExamples } from './help.ts';

interface ConfigOptions extends ServerFlags {
  json?: true;
}

const VALUE_COLUMNS = 60;

const hasPassword = (text: string) => URL.canParse(text) && new URL(text).password !== '';

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

/** Says first what is wrong, then what else is worth a look. */
function tell(
  terminal: Terminal,
  file: string | null,
  faults: readonly string[],
  warnings: readonly string[],
) {
  terminal.message(file === null ? 'No configuration file is read.' : `The configuration file is ${file}.`);
  for (const fault of faults) terminal.message(`crewboard: ${fault}`);
  if (faults.length > 0) terminal.message('What is wrong is left out above; other commands refuse it.');
  for (const warning of warnings) terminal.message(`warning: ${warning}`);
}

async function showConfig(options: ConfigOptions, context: Context): Promise<void> {
  const { terminal } = context;
  const { config, faults: wrong } = context.inspectConfig();
  const { settings, faults: unreadable } = await effectiveSettings(config, options, process.cwd());
  const faults = [...wrong, ...unreadable].map(explain);
  const warnings = warningsOf(config);
  const file = config.file?.path ?? null;
  if (faults.length > 0) context.exitWith(EXIT.usage);
  if (options.json) return terminal.data(`${safeJson({ file, settings, faults, warnings })}\n`);
  const rows = settings.map(({ key, variable, value, source }) => [
    key,
    safeLine(String(value ?? '(not set)'), VALUE_COLUMNS),
    source,
    variable,
  ]);
  await terminal.data(`${table([['KEY', 'VALUE', 'SOURCE', 'VARIABLE'], ...rows])}\n`);
  tell(terminal, file, faults, warnings);
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
    'crewboard config --json | jq \'.settings[] | select(.source == "file")\'',
    'crewboard config --config staging.json',
  ]);
}
