import type {
  AttemptOutcome,
  BlockKind,
  Condition,
  FailureClass,
  JobStatus,
  TaskStatus,
} from '@crewboard/contracts';

/**
 * The reference model's board: plain data, one object a task, everything else derived from it. Tasks go by their
 * numbers (the lead is 0), attempts by the number of their claim on this board.
 */

export type EdgeState = 'unmet' | 'met' | 'lost';

export interface Edge {
  on: number;
  condition: Condition;
  /** Rank among all edges of the board: dependents are told in the order in which their edges were made. */
  made: number;
  /** What the dependent was last told of it; behind the truth only while a slice is under way. */
  told: EdgeState;
}

export interface ModelAttempt {
  claim: number;
  owner: string;
  outcome?: AttemptOutcome;
  class?: FailureClass;
  answer?: string;
}

export interface ModelTask {
  number: number;
  key?: string;
  title: string;
  content: string;
  version: number;
  status: TaskStatus;
  priority: number;
  executor: 'agent' | 'external';
  onLost: 'hold' | 'cancel';
  maxAttempts: number;
  dependsOn: Edge[];
  /** The task in whose place this one stands: completed, it makes up for that one's failure. */
  replaces?: number;
  /** What a pending task is held by, what a submitted one waits for, how the lead waits. */
  hold: '' | 'proposal' | 'review' | 'checks' | 'news' | 'woken';
  /** A proposal that was rejected stays outside counts. */
  outside: boolean;
  /** Virtual time before which it is not to be claimed; gone once somebody noticed that it has passed. */
  notBefore?: number;
  /** Handed to the queue and not claimed yet. */
  queued: boolean;
  dispatches: number;
  owner: string;
  /** The claim that is current. */
  claim?: number;
  claimRequest?: string;
  leaseEnd?: number;
  /** How long a heartbeat that names no time extends it. */
  lease: 'none' | 'short' | 'long';
  /** The runner of its checks that is current. */
  runner?: number;
  attempts: ModelAttempt[];
  failures: number;
  strikes: number;
  /** An expiry with a tool under way: growth does not wipe its strikes out. */
  sticky: boolean;
  growth: boolean;
  openTools: number;
  /** The next attempt begins its conversation anew. */
  fresh: boolean;
  requests: { request: string; action: string }[];
  failure?: FailureClass;
  block?: BlockKind;
}

export interface OutboxItem {
  kind: 'enqueue' | 'dispatch' | 'settle' | 'lost' | 'cancel' | 'cascade' | 'checks' | 'rerun';
  /** Of a rerun its number. */
  task: number;
  attempt: number;
  dispatch: number;
}

export interface Settings {
  lead: boolean;
  maxParallel: number;
  allowParallel: boolean;
  maxTasks: number;
  maxAttempts: number;
  maxLeadRuns: number;
  /** Later news is collected: the test's time is either none or far more than a run takes. */
  coalesce: boolean;
  /** Edges that one step settles at most, and tasks that one step cancels because of another or runs again; undefined: no bound. */
  slice?: number;
}

export interface ModelBoard {
  settings: Settings;
  now: number;
  status: JobStatus;
  pauses: string[];
  cancelling: boolean;
  tasks: ModelTask[];
  outbox: OutboxItem[];
  /** Tasks whose dependents are being told in slices, and up to which edge they were. */
  slices: { task: number; from: number }[];
  /** Cancelled tasks whose dependents are still to be cancelled too. */
  cascades: { task: number; from: number }[];
  /** Tasks to be cancelled because a dependency is lost. */
  losses: number[];
  /** Reruns under way, with what they have not looked at yet; and how many there were. */
  reruns: { number: number; left: { task: number; version: number }[] }[];
  rerunsSoFar: number;
  claims: number;
  runners: number;
  edges: number;
  /** Edges that this step may still tell. */
  edgesLeft: number;
  unread: boolean;
  leadRuns: number;
  wokenAt: number;
  leadFailure: string;
  answers: { request: string; content: string; data: unknown }[];
  /** What this step wrote to the log: type and task. */
  log: string[];
}

/** A time no run reaches. */
export const FAR = 1_000_000_000;
/** Virtual time between two steps; a short lease or delay is less. */
export const TICK = 10;

/** An empty board before its first task. */
export function emptyBoard(settings: Settings): ModelBoard {
  const board: ModelBoard = {
    settings,
    now: 1,
    status: 'accepting',
    pauses: [],
    cancelling: false,
    tasks: [],
    outbox: [],
    slices: [],
    cascades: [],
    losses: [],
    reruns: [],
    rerunsSoFar: 0,
    claims: 0,
    runners: 0,
    edges: 0,
    edgesLeft: settings.slice ?? Number.POSITIVE_INFINITY,
    unread: false,
    leadRuns: 0,
    wokenAt: 0,
    leadFailure: '',
    answers: [],
    log: [],
  };
  return board;
}

/** A task as it is when added. */
export function newTask(
  number: number,
  given: Pick<ModelTask, 'title' | 'content' | 'priority' | 'executor' | 'onLost' | 'maxAttempts'> & {
    key?: string;
  },
): ModelTask {
  return {
    ...given,
    number,
    version: 1,
    status: 'pending',
    dependsOn: [],
    hold: '',
    outside: false,
    queued: false,
    dispatches: 0,
    owner: '',
    lease: 'none',
    attempts: [],
    failures: 0,
    strikes: 0,
    sticky: false,
    growth: false,
    openTools: 0,
    fresh: false,
    requests: [],
  };
}
