import type { Boards, RedisClient } from '@crewboard/board';
import { CrewboardError, newSecret, type Owner, OwnerKind } from '@crewboard/contracts';
import { type Answer, type Call, type Change, type NewModelTask, STRIKES } from './calls.ts';
import {
  ANN,
  type Bench,
  delayMs,
  idOf,
  LEAD,
  leaseMs,
  type Names,
  remember,
  toNewTask,
  toReferences,
} from './rig-bench.ts';
import { holderCall, leadCall } from './rig-holder.ts';
import { passTime, submitJob } from './rig-job.ts';
import { FAR, type Settings } from './state.ts';

/** Carries the model's calls out on a board in Redis and answers in the model's words. */

function ownerOf(text: string): Owner {
  const at = text.indexOf(':');
  return { kind: OwnerKind.parse(text.slice(0, at)), id: text.slice(at + 1) };
}

/** A connection and the boards on it. */
export interface Store {
  redis: RedisClient;
  boards: Boards;
}

export interface Rig {
  jobId: string;
  boards: Boards;
  /** Task IDs by number, and the other way round. */
  idOf(number: number): string;
  numberOf(taskId: string): number;
  perform(call: Call): Promise<Answer>;
  /** Resolves once every short lease and delay so far is over by Redis' clock. */
  settleClock(): Promise<void>;
}

/** Submits a job with these tasks and opens its board for calls. */
export async function openRig(
  { redis, boards }: Store,
  settings: Settings,
  tasks: readonly NewModelTask[],
): Promise<Rig> {
  const names: Names = {
    ids: new Map(),
    numbers: new Map(),
    claims: [],
    runners: [],
    tools: new Map(),
  };
  const jobId = await submitJob(boards, settings, tasks);
  const page = await boards.page(jobId, { after: 0, limit: 100 });
  for (const task of page.tasks) remember(names, task.number, task.id);
  const { lead } = await boards.job(jobId);
  if (lead !== undefined) remember(names, 0, lead);
  const bench: Bench = { boards, redis, jobId, names, settings };
  return {
    jobId,
    boards,
    idOf: (number) => idOf(bench, number),
    numberOf: (taskId) => names.numbers.get(taskId) ?? -1,
    async perform(call) {
      try {
        return await perform(bench, call);
      } catch (error) {
        if (error instanceof CrewboardError) return { word: 'refused', data: error.code };
        throw error;
      }
    },
    settleClock: () => passTime(redis),
  };
}

async function perform(bench: Bench, call: Call): Promise<Answer> {
  const { boards, jobId } = bench;
  switch (call.do) {
    case 'change':
      return change(bench, call);
    case 'claim':
      return claim(bench, call);
    case 'resolve':
    case 'startChecks':
    case 'endChecks':
      return decide(bench, call);
    case 'pause':
      return { word: (await boards.pauseJob(jobId, ANN, call.cause, 'lunch')) ? 'ok' : 'already' };
    case 'resume':
      return { word: (await boards.resumeJob(jobId, ANN, call.cause)) ? 'ok' : 'already' };
    case 'rerun':
      return rerun(bench, call);
    case 'cancelJob':
      return { word: (await boards.cancelJob(jobId, 'user:ann', 'enough')) ? 'ok' : 'already' };
    case 'sweep':
      await boards.sweep(jobId, { intervalMs: 0, leaseMs: FAR, strikes: STRIKES, staleMs: FAR, gapMs: FAR });
      return { word: 'ok' };
    case 'carryOut':
      await boards.carryOut(jobId, {
        kind: call.kind,
        taskId: call.kind === 'rerun' ? String(call.task) : idOf(bench, call.task),
      });
      return { word: 'ok' };
    case 'forget':
      return forget(bench, call);
    case 'tell':
    case 'wait':
    case 'finish':
      return leadCall(bench, call);
    default:
      return holderCall(bench, call);
  }
}

async function rerun(bench: Bench, call: Extract<Call, { do: 'rerun' }>): Promise<Answer> {
  const { boards, jobId } = bench;
  const content = JSON.stringify(['rerun', call.tasks]);
  const started = await boards.startRerun(jobId, {
    by: ANN,
    reason: 'again',
    tasks: call.tasks.map(({ task, version }) => ({ id: idOf(bench, task), version })),
    ...(call.request === undefined ? {} : { request: { key: call.request, content } }),
  });
  return { word: 'ok', data: { rerun: started.rerun, matched: started.matched } };
}

/** What an outbox entry is about: a task, or a rerun. */
function numberIn(names: Names, { kind, taskId }: { kind: string; taskId: string }): number | undefined {
  return kind === 'rerun' ? Number(taskId) : names.numbers.get(taskId);
}

async function change(bench: Bench, call: Change): Promise<Answer> {
  const nameOf = (number: number) => idOf(bench, number);
  const planned = await bench.boards.change(bench.jobId, {
    by: call.lead === undefined ? ANN : LEAD,
    maxAttempts: bench.settings.maxAttempts,
    adds: call.adds.map((add) => toNewTask(nameOf, add)),
    edits: call.edits.map(({ task, version, patch: { dependsOn, onLost, replaces, ...patch } }) => ({
      taskId: nameOf(task),
      version,
      patch: {
        ...patch,
        ...(onLost === undefined ? {} : { onDependencyLost: onLost }),
        ...(replaces === undefined ? {} : { replaces: nameOf(replaces) }),
        ...(dependsOn === undefined ? {} : { dependsOn: toReferences(nameOf, dependsOn) }),
      },
    })),
    cancels: call.cancels.map(({ task, version, cascade }) => ({
      taskId: nameOf(task),
      version,
      reason: 'not needed',
      dependents: cascade ? 'cancel' : 'hold',
    })),
    reopens: call.reopens.map(({ task, version }) => ({ taskId: nameOf(task), version, reason: 'again' })),
    ...(call.lead === undefined
      ? call.request === undefined
        ? {}
        : {
            request: {
              key: call.request,
              content: JSON.stringify([call.adds, call.edits, call.cancels, call.reopens]),
            },
          }
      : { lead: { token: bench.names.claims[call.lead - 1] ?? '', requestId: call.request ?? '' } }),
  });
  for (const { taskId, number } of planned.added) remember(bench.names, number, taskId);
  const numberOf = (taskId: string) => bench.names.numbers.get(taskId);
  return {
    word: 'ok',
    data: {
      added: planned.added.map(({ number }) => number),
      changed: planned.changed.map(({ taskId, version }) => [numberOf(taskId), version]),
      started: planned.startedDependents.map(numberOf).sort(),
    },
  };
}

async function claim(
  { boards, jobId, names, ...bench }: Bench,
  call: Extract<Call, { do: 'claim' }>,
): Promise<Answer> {
  const claimed = await boards.claim(jobId, {
    owner: ownerOf(call.owner),
    secret: newSecret(),
    requestId: call.request,
    leaseMs: leaseMs(call.lease),
    ...(call.task === undefined ? {} : { taskId: idOf({ boards, jobId, names, ...bench }, call.task) }),
    ...(call.expected === undefined ? {} : { expectedAttempt: call.expected }),
  });
  if (claimed === undefined) return { word: call.task === undefined ? 'none' : 'dropped' };
  const known = names.claims.indexOf(claimed.token);
  if (known < 0) names.claims.push(claimed.token);
  return {
    word: known < 0 ? 'ok' : 'already',
    data: {
      task: claimed.task.number,
      claim: known < 0 ? names.claims.length : known + 1,
      attempt: claimed.task.attempt,
      version: claimed.task.version,
      fresh: claimed.fresh,
    },
  };
}

async function decide(
  bench: Bench,
  call: Extract<Call, { do: 'resolve' | 'startChecks' | 'endChecks' }>,
): Promise<Answer> {
  const { boards, jobId, names } = bench;
  const taskId = idOf(bench, call.task);
  if (call.do === 'startChecks') {
    const check = await boards.startChecks(jobId, taskId, 'worker:1', leaseMs(call.lease));
    if (check === undefined) return { word: 'none' };
    names.runners.push(check.token);
    return { word: 'ok', data: { runner: names.runners.length, version: check.version } };
  }
  if (call.do === 'endChecks') {
    const check = { token: names.runners[call.runner - 1] ?? '', version: call.version };
    const told = call.passed
      ? { passed: true as const, checks: [] }
      : { passed: false as const, check: 'c', reason: 'it fails' };
    const delay = delayMs(call.delay);
    const verdict = { passed: call.passed, reason: 'it fails', evidence: [], delayMs: delay, told };
    return { word: 'ok', data: await boards.endChecks(jobId, taskId, check, verdict) };
  }
  const { version, already } = await boards.resolve(jobId, {
    taskId,
    version: call.version,
    decision: call.decision,
    text: 'text',
    by: call.lead === undefined ? ANN : LEAD,
    ...(call.lead === undefined
      ? call.request === undefined
        ? {}
        : { request: { key: call.request, content: JSON.stringify(call) } }
      : { lead: { token: names.claims[call.lead - 1] ?? '', requestId: call.request ?? '' } }),
  });
  return { word: already ? 'already' : 'ok', data: { version } };
}

async function forget(bench: Bench, { item }: Extract<Call, { do: 'forget' }>): Promise<Answer> {
  const entries = await bench.boards.readOutbox(bench.jobId, 1000);
  const oldest = entries.find(
    (entry) =>
      entry.kind === item.kind &&
      entry.attempt === item.attempt &&
      entry.dispatch === item.dispatch &&
      (entry.taskId === '' || numberIn(bench.names, entry) === item.task),
  );
  await bench.boards.removeFromOutbox(bench.jobId, oldest === undefined ? [] : [oldest.id]);
  return { word: 'ok' };
}
