import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { BOARD_KEYS, type BoardKey } from './keys.ts';
import { linkScript } from './lua-source.ts';

/** The one place that knows which keys a script uses and in which order they are passed. */
const ENDING: BoardKey[] = [
  'hot',
  'index',
  'events',
  'outbox',
  'lease',
  'window',
  'due',
  'edges',
  'unmet',
  'replaces',
  'slices',
  'attempts',
  'repeats',
  'outcome',
  'job',
  'spend',
];
const READING: BoardKey[] = [
  'hot',
  'head',
  'body',
  'outcome',
  'output',
  'deps',
  'lease',
  'usage',
  'progress',
  'events',
  'spend',
];

const FLOW = ['core', 'spend', 'flow'];
const HOLDER = ['core', 'spend', 'flow', 'holder'];
const BUDGET = [...HOLDER, 'pauses', 'budget'];
const CHANGES = [...HOLDER, 'person', 'edges', 'answers', 'add', 'edit', 'cancel', 'reopen'];
const DOCTOR = ['core', 'spend', 'flow', 'rows', 'edges', 'doctor', 'doctor_task'];
const CHANGING: BoardKey[] = [...ENDING, 'keys', 'order', 'head', 'body', 'deps', 'output'];

const SCRIPTS = {
  create: { libraries: ['core'], keys: ['hot', 'job', 'head', 'body'] },
  plan: {
    libraries: [...CHANGES, 'rows'],
    keys: CHANGING,
  },
  propose: { libraries: [...CHANGES, 'rows'], keys: CHANGING },
  resolve: { libraries: [...HOLDER, 'person', 'rows'], keys: [...ENDING, 'output', 'deps'] },
  block: { libraries: [...HOLDER, 'edges', 'rows'], keys: [...ENDING, 'deps'] },
  check_start: { libraries: ['core'], keys: ['hot', 'lease'] },
  check_end: { libraries: HOLDER, keys: [...ENDING, 'output'] },
  drop: { libraries: ['core'], keys: BOARD_KEYS },
  pause: { libraries: ['core'], keys: ['hot', 'events'] },
  resume: { libraries: FLOW, keys: ENDING },
  cascade: { libraries: [...HOLDER, 'cancel', 'rows'], keys: ENDING },
  flip: { libraries: FLOW, keys: ['hot', 'index', 'events', 'outbox', 'window', 'job'] },
  claim: {
    libraries: [...FLOW, 'rows'],
    keys: [...new Set<BoardKey>([...READING, 'index', 'window', 'due', 'attempts', 'repeats', 'outbox'])],
  },
  check_hold: { libraries: ['core', 'holder'], keys: ['hot', 'attempts', 'repeats'] },
  read_lease: { libraries: ['core'], keys: ['hot', 'lease'] },
  claimed_by: { libraries: [], keys: ['repeats'] },
  heartbeat: { libraries: ['core', 'holder'], keys: ['hot', 'lease', 'attempts', 'repeats'] },
  note: {
    libraries: HOLDER,
    keys: ['hot', 'attempts', 'repeats', 'events', 'progress', 'due', 'outbox', 'job'],
  },
  submit: { libraries: HOLDER, keys: [...ENDING, 'output'] },
  fail: { libraries: HOLDER, keys: ENDING },
  release: { libraries: HOLDER, keys: ENDING },
  finish_job: { libraries: [...HOLDER, 'cancel'], keys: ENDING },
  cancel_job: { libraries: ['core'], keys: ['hot', 'outbox', 'job'] },
  cancel_slice: { libraries: [...HOLDER, 'cancel'], keys: ENDING },
  settle_slice: { libraries: [...FLOW, 'rows'], keys: ENDING },
  lost: { libraries: [...HOLDER, 'cancel', 'rows'], keys: ENDING },
  dispatch: { libraries: FLOW, keys: ['hot', 'index', 'window', 'outbox'] },
  sweep: { libraries: [...BUDGET, 'expire'], keys: ENDING },
  journal_append: {
    libraries: [...HOLDER],
    keys: ['hot', 'attempts', 'repeats', 'usage', 'events', 'spend', 'journal'],
  },
  reserve: { libraries: BUDGET, keys: [...ENDING, 'head'] },
  settle_call: { libraries: HOLDER, keys: ['hot', 'attempts', 'usage', 'spend'] },
  wind_up: { libraries: [...BUDGET, 'cancel', 'rows'], keys: ENDING },
  set_budget: { libraries: BUDGET, keys: ENDING },
  read_job: { libraries: [...FLOW, 'rows'], keys: ['hot', 'job', 'usage', 'events', 'spend'] },
  read_attempts: { libraries: ['core'], keys: ['hot', 'attempts', 'usage', 'spend'] },
  read_tasks: { libraries: [...FLOW, 'rows'], keys: READING },
  list_tasks: { libraries: [...FLOW, 'rows'], keys: [...READING, 'order', 'index'] },
  doctor_spend: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_begin: { libraries: ['core'], keys: ['hot'] },
  doctor_tasks: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_edges: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_links: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_members: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_fields: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_board: { libraries: DOCTOR, keys: BOARD_KEYS },
} as const satisfies Record<
  string,
  { libraries: readonly string[]; keys: readonly (BoardKey | 'journal')[] }
>;

export type ScriptName = keyof typeof SCRIPTS;

const isScriptName = (name: string): name is ScriptName => name in SCRIPTS;
export const SCRIPT_NAMES = Object.keys(SCRIPTS).filter(isScriptName);

export type RedisClient = Redis | Cluster;

/** A script's whole text. */
export function scriptSource(name: ScriptName): string {
  const { libraries, keys } = SCRIPTS[name];
  return linkScript(name, libraries, keys);
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');

/** The keys that a script is passed, in their order. */
export function keysOf(name: ScriptName): readonly (BoardKey | 'journal')[] {
  return SCRIPTS[name].keys;
}

/** Runs one script with the names of its keys, in the order of {@link keysOf}. */
export type RunScript = (
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * Prepares all scripts for `redis`. Each call is EVALSHA with one array of arguments (a spread of many thousand
 * overflows the stack) and falls back to EVAL when the server has lost the script (SCRIPT FLUSH, restart).
 */
export function prepareScripts(redis: RedisClient): RunScript {
  const sources = new Map<ScriptName, { text: string; sha: string }>();
  for (const name of SCRIPT_NAMES) {
    const text = scriptSource(name);
    sources.set(name, { text, sha: sha1(text) });
  }
  return async (name, keys, args) => {
    const script = sources.get(name);
    if (script === undefined) throw new Error(`no script ${name}`);
    const rest = [keys.length, ...keys, ...args];
    try {
      return await redis.call('evalsha', [script.sha, ...rest]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.call('eval', [script.text, ...rest]);
    }
  };
}
