import { z } from 'zod';
import { CrewboardError } from './errors.ts';

/** What was given, for a message; never used for what may be a secret. */
const quoted = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** A whole number in decimal digits. */
function wholeNumber(min: number, max: number) {
  return z.string().transform((text, context) => {
    const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue({
      code: 'custom',
      message: `must be a whole number from ${min} to ${max}, got ${quoted(text)}`,
    });
    return z.NEVER;
  });
}

const int = (fallback: number, min: number, max: number) => wholeNumber(min, max).default(fallback);
const optionalInt = (min: number, max: number) => wholeNumber(min, max).optional();

/** A number that may have a fraction, in decimal digits. */
function decimal(fallback: number, min: number, max: number) {
  return z
    .string()
    .transform((text, context) => {
      const value = /^\+?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      context.addIssue({
        code: 'custom',
        message: `must be a number from ${min} to ${max} such as 30 or 0.5, got ${quoted(text)}`,
      });
      return z.NEVER;
    })
    .default(fallback);
}

/** One of a few words. */
function word<const Words extends readonly [string, string, ...string[]]>(words: Words) {
  const all = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, { error: ({ input }) => `must be ${all}, got ${quoted(String(input))}` });
}

// URLs may carry a password, so what was given is not repeated.
const url = z.url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:8080' });

/** Parts of a list with commas between them. */
const list = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A list of what `isOne` takes; empty by default. */
function listOf(isOne: (part: string) => boolean, expected: string) {
  return z
    .string()
    .default('')
    .transform((text, context) => {
      const parts = list(text);
      const wrong = parts.find((part) => !isOne(part));
      if (wrong === undefined) return parts;
      context.addIssue({ code: 'custom', message: `must be ${expected}, got ${quoted(wrong)}` });
      return z.NEVER;
    });
}

/** True for an origin as browsers write it: scheme, host and port, and nothing after them. */
function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
}

/** True for an address or a network of them, such as 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  if (z.ipv4().safeParse(address).success) return Number(bits) <= 32;
  return z.ipv6().safeParse(address).success && Number(bits) <= 128;
}

/** Whether agents and tasks may run commands, and how they are kept apart from the machine. */
export const COMMANDS_MODES = ['off', 'sandbox', 'host'] as const;
export type CommandsMode = (typeof COMMANDS_MODES)[number];

/** Every environment variable that Crewboard reads, with its default (DESIGN section 15). */
export const Environment = z.object({
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a URL such as redis://127.0.0.1:6379' })
    .optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: url.optional(),
  CREWBOARD_URL: url.optional(),
  CREWBOARD_PORT: int(7420, 0, 65_535),
  CREWBOARD_HOST: z.string().min(1).default('127.0.0.1'),
  CREWBOARD_DATA_DIR: z.string().min(1).default('.crewboard'),
  CREWBOARD_API_KEY: z.string().min(16, 'must be at least 16 characters').optional(),
  /** Requests of one key in a minute; 0: no limit. Absent: it depends on who can reach the server. */
  CREWBOARD_RATE_LIMIT: optionalInt(0, 1_000_000),
  CREWBOARD_CORS_ORIGINS: listOf(
    isOrigin,
    'origins such as https://crew.example with commas between them (scheme, host and port alone, never "*")',
  ),
  CREWBOARD_TRUSTED_PROXIES: listOf(
    isNetwork,
    'addresses or networks such as 10.0.0.7 or 10.0.0.0/8 with commas between them',
  ),
  CREWBOARD_PREFIX: z
    .string()
    .regex(/^\{[\w.-]{1,40}\}$/, 'must be a name in braces, such as {crewboard}')
    .default('{crewboard}'),
  CREWBOARD_LEAD_MODEL: z.string().min(1).default('claude-opus-5-5'),
  CREWBOARD_WORKER_MODEL: z.string().min(1).default('claude-sonnet-5-5'),
  CREWBOARD_CONCURRENCY: int(8, 1, 1000),
  CREWBOARD_LEASE_MS: int(30_000, 200, 3_600_000),
  CREWBOARD_EXTERNAL_LEASE_MS: int(900_000, 1000, 86_400_000),
  CREWBOARD_INFRA_STRIKES: int(3, 1, 100),
  CREWBOARD_MODEL_TRIES: int(6, 1, 100),
  CREWBOARD_MODEL_RETRY_MS: int(120_000, 0, 3_600_000),
  CREWBOARD_PARK_MS: int(60_000, 10, 600_000),
  CREWBOARD_MODEL_IDLE_MS: int(60_000, 100, 3_600_000),
  CREWBOARD_LEAD_COALESCE_MS: int(5000, 0, 600_000),
  CREWBOARD_REDIS_SILENCE_MS: int(10_000, 100, 600_000),
  CREWBOARD_PRICE_FILE: z.string().min(1).optional(),
  CREWBOARD_WORKSPACES: z.string().optional(),
  CREWBOARD_COMMANDS: word(COMMANDS_MODES).optional(),
  CREWBOARD_BODY_LIMIT: int(4_194_304, 1024, 1_073_741_824),
  CREWBOARD_RETENTION_DAYS: decimal(30, 0, 3650),
  CREWBOARD_LOG_LEVEL: word(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** The configuration file of the command line; `-`: none. */
  CREWBOARD_CONFIG: z.string().min(1).optional(),
  /** Set by `crewboard up` for its children: where its simulated Messages API listens. */
  CREWBOARD_SIMULATED_MODEL_URL: url.optional(),
});
export type Environment = z.infer<typeof Environment>;

/**
 * Parses the process environment. An empty variable counts as absent.
 * Throws `invalid_argument` naming the variable that is wrong and what it must be.
 */
export function parseEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const present = Object.fromEntries(
    Object.keys(Environment.shape)
      .map((name) => [name, variables[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Environment.safeParse(present);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new CrewboardError('invalid_argument', `${String(issue?.path[0])} ${issue?.message}`);
}
