import { prepareScript, type RedisClient } from './eval-script.ts';
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
  'artifacts',
  'messages',
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

const FLOW = ['core', 'spend', 'messages', 'window', 'wake', 'dependents', 'pass_on', 'plan_mode'];
const HOLDER = [...FLOW, 'artifacts', 'pauses', 'holder'];
const BUDGET = [...HOLDER, 'budget'];
const CHANGES = [...HOLDER, 'person', 'edges', 'answers', 'add', 'edit', 'cancel', 'reopen'];
const DOCTOR = [
  'core',
  'spend',
  'messages',
  'window',
  'wake',
  'dependents',
  'rows',
  'edges',
  'doctor',
  'doctor_task',
];
const CHANGING: BoardKey[] = [...ENDING, 'keys', 'order', 'head', 'body', 'deps', 'output'];

const SCRIPTS = {
  create: { libraries: ['core'], keys: ['hot', 'job', 'head', 'body'] },
  plan: {
    libraries: [...CHANGES, 'rows'],
    keys: CHANGING,
  },
  rerun: { libraries: [...CHANGES, 'rerun'], keys: [...CHANGING, 'reruns'] },
  rerun_slice: { libraries: [...CHANGES, 'rows', 'rerun'], keys: [...CHANGING, 'reruns'] },
  propose: { libraries: [...CHANGES, 'rows'], keys: CHANGING },
  resolve: { libraries: [...HOLDER, 'person', 'answers', 'rows'], keys: [...ENDING, 'output', 'deps'] },
  block: { libraries: [...HOLDER, 'edges', 'rows'], keys: [...ENDING, 'deps'] },
  check_start: { libraries: ['core'], keys: ['hot', 'lease', 'due', 'runners'] },
  check_end: { libraries: [...HOLDER, 'review'], keys: [...ENDING, 'output', 'runners'] },
  check_release: {
    libraries: [...HOLDER, 'review'],
    keys: ['hot', 'lease', 'due', 'outbox', 'runners'],
  },
  read_review: { libraries: ['core'], keys: ['hot', 'runners'] },
  drop: { libraries: ['core'], keys: BOARD_KEYS },
  pause: { libraries: [...FLOW, 'pauses'], keys: ['hot', 'events', 'job'] },
  resume: { libraries: [...FLOW, 'pauses'], keys: ENDING },
  edit_job: { libraries: BUDGET, keys: ENDING },
  cascade: { libraries: [...HOLDER, 'cancel', 'rows'], keys: ENDING },
  flip: { libraries: [...FLOW, 'pauses'], keys: ['hot', 'index', 'events', 'outbox', 'window', 'job'] },
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
  commit_artifact: { libraries: HOLDER, keys: ['hot', 'attempts', 'repeats', 'artifacts'] },
  find_artifact: { libraries: ['core', 'artifacts'], keys: ['hot', 'deps', 'artifacts'] },
  list_artifacts: { libraries: ['core', 'artifacts'], keys: ['hot', 'artifacts'] },
  submit_checks: { libraries: [...HOLDER, 'review'], keys: [...ENDING, 'output', 'runners'] },
  fail: { libraries: HOLDER, keys: ENDING },
  release: { libraries: HOLDER, keys: ENDING },
  finish_job: { libraries: [...HOLDER, 'cancel'], keys: ENDING },
  message: { libraries: [...HOLDER, 'answers'], keys: ENDING },
  show_messages: { libraries: HOLDER, keys: ['hot', 'attempts', 'repeats', 'events', 'messages'] },
  ask: { libraries: HOLDER, keys: ['hot', 'attempts', 'repeats', 'events', 'job'] },
  stall: { libraries: HOLDER, keys: ENDING },
  propose_plan: { libraries: HOLDER, keys: ENDING },
  reject_plan: { libraries: [...HOLDER, 'answers'], keys: ['hot', 'events', 'outbox', 'job'] },
  cancel_job: { libraries: ['core', 'answers'], keys: ['hot', 'outbox', 'job'] },
  cancel_slice: { libraries: [...HOLDER, 'cancel', 'early_end'], keys: ENDING },
  settle_slice: { libraries: [...FLOW, 'rows'], keys: ENDING },
  lost: { libraries: [...HOLDER, 'cancel', 'rows'], keys: [...ENDING, 'deps'] },
  dispatch: { libraries: FLOW, keys: ['hot', 'index', 'window', 'outbox'] },
  sweep: {
    libraries: [...BUDGET, 'expire', 'review', 'early_end', 'gap'],
    keys: [...ENDING, 'output', 'runners'],
  },
  journal_append: {
    libraries: [...HOLDER],
    keys: ['hot', 'attempts', 'repeats', 'usage', 'events', 'messages', 'spend', 'journal'],
  },
  reserve: { libraries: BUDGET, keys: [...ENDING, 'head'] },
  settle_call: { libraries: HOLDER, keys: ['hot', 'attempts', 'usage', 'spend'] },
  wind_up: { libraries: [...BUDGET, 'cancel', 'rows'], keys: ENDING },
  set_budget: { libraries: BUDGET, keys: ENDING },
  read_job: {
    libraries: [...FLOW, 'rows', 'moves'],
    keys: ['hot', 'job', 'usage', 'events', 'rate', 'spend', 'window', 'index'],
  },
  read_plan: { libraries: ['core'], keys: ['hot', 'job'] },
  read_attempts: { libraries: ['core'], keys: ['hot', 'attempts', 'usage', 'spend'] },
  read_tasks: { libraries: [...FLOW, 'rows'], keys: READING },
  walk_up: { libraries: FLOW, keys: ['hot', 'deps'] },
  list_tasks: { libraries: [...FLOW, 'rows'], keys: [...READING, 'order', 'index'] },
  rate_mark: { libraries: ['core'], keys: ['hot', 'events', 'rate'] },
  wake_parked: { libraries: HOLDER, keys: [...ENDING, 'rate'] },
  doctor_spend: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_begin: { libraries: ['core'], keys: ['hot'] },
  doctor_tasks: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_edges: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_links: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_members: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_fields: { libraries: DOCTOR, keys: BOARD_KEYS },
  doctor_board: { libraries: DOCTOR, keys: BOARD_KEYS },
  read_journal: { libraries: [], keys: ['journals', 'journal'] },
  leave_journal: { libraries: ['core'], keys: ['hot', 'journals', 'journal'] },
  read_stamp: { libraries: ['core', 'retention'], keys: ['hot', 'events', 'usage', 'spend'] },
  remove_board: { libraries: ['core', 'retention'], keys: BOARD_KEYS },
  artifact_records: { libraries: ['core', 'artifacts'], keys: ['hot', 'artifacts'] },
} as const satisfies Record<
  string,
  { libraries: readonly string[]; keys: readonly (BoardKey | 'journal')[] }
>;

export type ScriptName = keyof typeof SCRIPTS;

const isScriptName = (name: string): name is ScriptName => name in SCRIPTS;
export const SCRIPT_NAMES = Object.keys(SCRIPTS).filter(isScriptName);

export type { RedisClient } from './eval-script.ts';

/** Scripts that a busy worker calls most; calls of one board that meet go to Redis as one. */
export const MANY_SCRIPTS = ['claim', 'submit'] as const satisfies ScriptName[];
export type ManyScript = (typeof MANY_SCRIPTS)[number];

/** A script's whole text; `many`: in the form that takes several calls at once. */
export function scriptSource(name: ScriptName, many = false): string {
  const { libraries, keys } = SCRIPTS[name];
  return linkScript(name, libraries, keys, many);
}

/** The keys that a script is passed, in their order. */
export function keysOf(name: ScriptName): readonly (BoardKey | 'journal')[] {
  return SCRIPTS[name].keys;
}

/** Runs scripts with the names of their keys, in the order of {@link keysOf}. */
export interface ScriptRunner {
  one(name: ScriptName, keys: readonly string[], args: ScriptArguments): Promise<unknown>;
  /** Several calls at once, all with the same number of arguments; answers a list of their replies. */
  many(name: ManyScript, keys: readonly string[], calls: readonly ScriptArguments[]): Promise<unknown>;
}

export type ScriptArguments = readonly (string | number)[];

/** Prepares all scripts for `redis`; see {@link prepareScript}. */
export function prepareScripts(redis: RedisClient): ScriptRunner {
  const prepare = (name: ScriptName, many: boolean) => prepareScript(redis, scriptSource(name, many));
  const single = new Map(SCRIPT_NAMES.map((name) => [name, prepare(name, false)]));
  const multiple = new Map(MANY_SCRIPTS.map((name) => [name, prepare(name, true)]));
  const run = async (
    script: ReturnType<typeof prepareScript> | undefined,
    keys: readonly string[],
    args: ScriptArguments,
  ) => {
    if (script === undefined) throw new Error('no such script');
    return script(keys, args);
  };
  return {
    one: (name, keys, args) => run(single.get(name), keys, args),
    many: (name, keys, calls) => run(multiple.get(name), keys, [calls[0]?.length ?? 0, ...calls.flat()]),
  };
}
