import type { Call, NewModelTask, Reference } from './calls.ts';
import type { AddCommand, Command, HolderCommand, Proof, Stale } from './commands.ts';
import { isOver, leadOf, plannedOf, taskOf } from './derive.ts';
import type { ModelBoard, ModelTask } from './state.ts';

/** What a generated command means on the board as it is when its turn comes. */

/** What is remembered while a run goes on: claims and runners ever made, and names of requests. */
export interface Memory {
  claims: { claim: number; task: number }[];
  runners: { runner: number; task: number; version: number }[];
  requests: string[];
}

const SUB_AGENTS = ['sub-agent:s1', 'sub-agent:s2'] as const;
const HOLDERS = [...SUB_AGENTS, 'external:x1', 'human:h1'] as const;

const pickOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];

/** Picks below this one mean something that fits, the few above anything. */
const COMMON = 15;

/** Something that fits, mostly; else anything. */
const pickFitting = (fitting: readonly ModelTask[], all: readonly ModelTask[], pick: number) =>
  pick < COMMON ? pickOf(fitting, pick) : pickOf(all, pick);

/** Keys that adds may take and references may name. */
const KEYS = ['k0', 'k1', 'k2'];

function reference(board: ModelBoard, pick: number): Reference {
  const task = pick < COMMON ? pickOf(plannedOf(board), pick) : undefined;
  return task === undefined ? { key: KEYS[pick % KEYS.length] ?? 'k0' } : { task: task.number };
}

/** A new task as a command means it now. */
export function toAdd(board: ModelBoard, add: AddCommand): NewModelTask {
  return {
    title: add.title,
    dependsOn: add.on.map(({ pick, condition }) => ({ on: reference(board, pick), condition })),
    onLost: add.onLost,
    priority: add.priority,
    executor: add.executor,
    ...(add.key === null ? {} : { key: KEYS[add.key % KEYS.length] ?? 'k0' }),
    ...(add.maxAttempts === null ? {} : { maxAttempts: add.maxAttempts }),
    ...(add.replaces === null ? {} : { replaces: reference(board, add.replaces) }),
  };
}

/** The dependencies of the first tasks, each on one before it and in one condition: a job's submit is not refused. */
function firstOn(on: AddCommand['on'], i: number): NewModelTask['dependsOn'] {
  if (i === 0) return [];
  const named = on.map(({ pick, condition }) => ({ on: { key: `first${pick % i}` }, condition }));
  return named.filter((each, n) => named.findIndex(({ on: { key } }) => key === each.on.key) === n);
}

/** The tasks that a job is submitted with: their dependencies are keys of those before them. */
export function toFirstTasks(adds: readonly AddCommand[]): NewModelTask[] {
  return adds.map(({ on, maxAttempts, replaces, ...add }, i) => ({
    ...add,
    key: `first${i}`,
    dependsOn: firstOn(on, i),
    ...(maxAttempts === null ? {} : { maxAttempts }),
    ...(replaces === null || i === 0 ? {} : { replaces: { key: `first${replaces % i}` } }),
  }));
}

function versionOf(task: ModelTask, { stale }: Stale): number {
  return stale ? task.version - 1 : task.version;
}

function requestOf(memory: Memory, again: number | null): string {
  const repeated = again === null ? undefined : memory.requests.at(-1 - (again % 4));
  if (repeated !== undefined) return repeated;
  const request = `r${memory.requests.length}`;
  memory.requests.push(request);
  return request;
}

function proofOf(
  board: ModelBoard,
  memory: Memory,
  { pick, proof }: Pick<Proof, 'pick' | 'proof'>,
): { task: number; claim: number } | undefined {
  const current = plannedOf(board).flatMap((task) =>
    task.claim === undefined ? [] : [{ task: task.number, claim: task.claim }],
  );
  if (proof === 'current') return pickOf(current, pick);
  const any = pickOf(memory.claims, pick);
  if (any === undefined || proof !== 'foreign') return any?.task === 0 ? undefined : any;
  const other = pickOf(plannedOf(board), pick);
  return other === undefined ? undefined : { task: other.number, claim: any.claim };
}

/** The lead's claim: its current one, or with an odd pick any it ever made. */
function leadProof(board: ModelBoard, memory: Memory, pick: number): { task: 0; claim: number } | undefined {
  const current = leadOf(board)?.claim;
  const any = pickOf(
    memory.claims.filter((claim) => claim.task === 0),
    pick,
  );
  const claim = pick % 4 === 3 ? any?.claim : (current ?? any?.claim);
  return claim === undefined ? undefined : { task: 0, claim };
}

function changeOf(board: ModelBoard, memory: Memory, command: Extract<Command, { do: 'change' }>): Call[] {
  const lead = command.asLead ? leadProof(board, memory, command.request ?? 0)?.claim : undefined;
  const seen = new Map<number, number>();
  /** Each with its task; one task twice only where the picks are the same. */
  const named = <T extends { pick: number }>(list: readonly T[], fits: (task: ModelTask) => boolean) =>
    list.flatMap((entry) => {
      const task = pickFitting(board.tasks.filter(fits), board.tasks, entry.pick);
      const before = task === undefined ? undefined : seen.get(task.number);
      if (task === undefined || (before !== undefined && before !== entry.pick)) return [];
      seen.set(task.number, entry.pick);
      return [{ entry, task }];
    });
  const isOpen = (task: ModelTask) => task.number > 0 && !isOver(task);
  return [
    {
      do: 'change',
      ...(lead === undefined ? {} : { lead }),
      ...(lead === undefined && command.request === null
        ? {}
        : { request: requestOf(memory, command.request) }),
      adds: command.adds.map((add) => toAdd(board, add)),
      edits: named(command.edits, isOpen).map(({ entry, task }) => {
        const { on, replaces, ...given } = entry.patch;
        const replaced = replaces === undefined ? undefined : pickOf(plannedOf(board), replaces)?.number;
        const patch = replaced === undefined ? given : { ...given, replaces: replaced };
        const dependsOn = on?.map(({ pick, condition }) => ({ on: reference(board, pick), condition }));
        return {
          task: task.number,
          version: versionOf(task, entry),
          patch: dependsOn === undefined ? patch : { ...patch, dependsOn },
        };
      }),
      cancels: named(command.cancels, isOpen).map(({ entry, task }) => ({
        task: task.number,
        version: versionOf(task, entry),
        cascade: entry.cascade,
      })),
      reopens: named(command.reopens, isOver).map(({ entry, task }) => ({
        task: task.number,
        version: versionOf(task, entry),
      })),
    },
  ];
}

function rerunOf(board: ModelBoard, memory: Memory, command: Extract<Command, { do: 'rerun' }>): Call {
  const chosen = new Map<number, { task: number; version: number }>();
  for (const entry of command.tasks) {
    const task = pickFitting(plannedOf(board).filter(isOver), plannedOf(board), entry.pick);
    if (task !== undefined) chosen.set(task.number, { task: task.number, version: versionOf(task, entry) });
  }
  const tasks = [...chosen.values()].sort((a, b) => a.task - b.task);
  const request = command.request === null ? {} : { request: requestOf(memory, command.request) };
  return { do: 'rerun', ...request, tasks };
}

/** Carries an outbox entry out: a delivery is claimed by a worker. A crash before its removal leaves it there. */
function deliveryOf(
  board: ModelBoard,
  memory: Memory,
  command: Omit<Extract<Command, { do: 'deliver' }>, 'do'>,
): Call[] {
  const item = pickOf(board.outbox, command.pick);
  if (item === undefined) return [];
  const forget: Call[] = command.forget ? [{ do: 'forget', item }] : [];
  if (item.kind === 'checks')
    return [{ do: 'startChecks', task: item.task, lease: command.lease }, ...forget];
  if (item.kind !== 'enqueue') return [{ do: 'carryOut', kind: item.kind, task: item.task }, ...forget];
  const owner = item.task === 0 ? 'lead:lead' : (pickOf(SUB_AGENTS, command.who) ?? SUB_AGENTS[0]);
  const request = requestOf(memory, null);
  return [
    { do: 'claim', owner, task: item.task, request, lease: command.lease, expected: item.attempt },
    ...forget,
  ];
}

function claimOf(board: ModelBoard, memory: Memory, command: Extract<Command, { do: 'claim' }>): Call[] {
  const owner = pickOf(HOLDERS, command.who) ?? SUB_AGENTS[0];
  const request = requestOf(memory, command.request);
  if (command.pick === null) return [{ do: 'claim', owner: 'external:x1', request, lease: command.lease }];
  const pending = board.tasks.filter((task) => task.status === 'pending');
  const task = pickFitting(pending, board.tasks, command.pick);
  if (task === undefined) return [];
  const by = task.number === 0 && command.who === 0 ? 'lead:lead' : owner;
  return [{ do: 'claim', owner: by, task: task.number, request, lease: command.lease }];
}

function resolveOf(board: ModelBoard, memory: Memory, command: Extract<Command, { do: 'resolve' }>): Call[] {
  const waiting = plannedOf(board).filter(
    (task) => task.status === 'blocked' || task.status === 'in_review' || task.hold === 'proposal',
  );
  const task = pickFitting(waiting, plannedOf(board), command.pick);
  if (task === undefined) return [];
  const fits = task.status === 'blocked' ? 'unblock' : command.accept ? 'approve' : 'reject';
  const wrong = task.status === 'blocked' ? 'approve' : 'unblock';
  const lead = command.asLead ? leadProof(board, memory, command.pick)?.claim : undefined;
  return [
    {
      do: 'resolve',
      ...(lead === undefined ? {} : { lead }),
      ...(command.request === null ? {} : { request: requestOf(memory, command.request) }),
      task: task.number,
      version: versionOf(task, command),
      decision: command.wrong ? wrong : fits,
    },
  ];
}

function leadCallOf(
  board: ModelBoard,
  memory: Memory,
  command: Extract<Command, { do: 'tell' | 'wait' | 'finish' | 'leadEnds' }>,
): Call[] {
  const proof = leadProof(board, memory, command.pick);
  if (proof === undefined) return [];
  if (command.do === 'tell') return [{ do: 'tell', ...proof }];
  const held = { ...proof, request: requestOf(memory, command.request) };
  if (command.do === 'wait') return [{ do: 'wait', ...held }];
  if (command.do === 'finish') {
    const open = plannedOf(board).filter(
      (task) => !['completed', 'failed', 'cancelled'].includes(task.status),
    );
    return [{ do: 'finish', ...held, waive: command.waive ? open.map((task) => task.number) : [] }];
  }
  if (command.how === 'release') return [{ do: 'release', ...held }];
  if (command.how === 'park') return [{ do: 'park', ...held, delay: command.delay, strikes: 0 }];
  return [{ do: 'fail', ...held, class: 'model', retryable: true, delay: 'none' }];
}

function holderCallOf(board: ModelBoard, memory: Memory, command: HolderCommand): Call[] {
  const proof = proofOf(board, memory, command);
  // Nobody holds anything: somebody takes what the queue has.
  if (proof === undefined)
    return deliveryOf(board, memory, { ...command, who: 0, lease: 'long', forget: true });
  const task = taskOf(board, proof.task);
  if (task === undefined) return [];
  if (command.do === 'heartbeat') return [{ do: 'heartbeat', ...proof, lease: command.lease }];
  if (command.do === 'journal') return [{ do: 'journal', ...proof, entry: command.entry }];
  const held = { ...proof, request: requestOf(memory, command.request) };
  switch (command.do) {
    case 'note':
      return [{ do: 'note', ...held }];
    case 'submit':
      return [{ do: 'submit', ...held, version: versionOf(task, command), to: command.to }];
    case 'fail':
      return [
        { do: 'fail', ...held, class: command.class, retryable: command.retryable, delay: command.delay },
      ];
    case 'release':
      return [{ do: 'release', ...held }];
    case 'park':
      return [{ do: 'park', ...held, delay: command.delay, strikes: command.strikes }];
    case 'block': {
      const on = command.kind === 'dependency' ? pickOf(board.tasks, command.on)?.number : undefined;
      return [{ do: 'block', ...held, kind: command.kind, ...(on === undefined ? {} : { on }) }];
    }
    case 'propose':
      return [{ do: 'propose', ...held, new: { ...toAdd(board, { ...command.new, key: null }) } }];
  }
}

/** The calls that a command means on the board as it is now; none when there is nothing that it could be about. */
export function callsOf(board: ModelBoard, memory: Memory, command: Command): Call[] {
  switch (command.do) {
    case 'change':
      return changeOf(board, memory, command);
    case 'claim':
      return claimOf(board, memory, command);
    case 'deliver':
      return deliveryOf(board, memory, command);
    case 'resolve':
      return resolveOf(board, memory, command);
    case 'startChecks': {
      const checked = plannedOf(board).filter((task) => task.hold === 'checks');
      const task = pickFitting(checked, plannedOf(board), command.pick);
      return task === undefined ? [] : [{ do: 'startChecks', task: task.number, lease: command.lease }];
    }
    case 'endChecks': {
      const runner = pickOf(memory.runners.toReversed(), command.pick);
      if (runner === undefined) return [];
      const version = command.stale ? runner.version - 1 : runner.version;
      return [{ do: 'endChecks', ...runner, version, passed: command.passed, delay: command.delay }];
    }
    case 'pause':
      return [{ do: 'pause', cause: command.cause }];
    case 'resume':
      return [{ do: 'resume', ...(command.cause === null ? {} : { cause: command.cause }) }];
    case 'rerun':
      return [rerunOf(board, memory, command)];
    case 'cancelJob':
    case 'sweep':
      return [{ do: command.do }];
    case 'tell':
    case 'wait':
    case 'finish':
    case 'leadEnds':
      return leadCallOf(board, memory, command);
    default:
      return holderCallOf(board, memory, command);
  }
}
