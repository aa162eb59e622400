import { asUnavailable, type Keyspace, type RedisClient } from '@crewboard/board';
import { z } from 'zod';
import {
  type ModelName,
  nameOfModel,
  prepareRateScripts,
  type RateScript,
  watchedKey,
} from './rate-scripts.ts';
import type { ProviderTimes } from './times.ts';

const AdmitReply = z.union([
  z.tuple([z.literal('go')]),
  z.tuple([z.literal('down'), z.string()]),
  z.tuple([
    z.literal('wait'),
    z.number(),
    z.enum(['brake', 'turn', 'slots', 'asking']),
    z.number(),
    z.number(),
    z.string(),
  ]),
]);
const ReportReply = z.tuple([z.number(), z.number()]);
const VerdictReply = z.union([z.tuple([z.enum(['up', 'asking'])]), z.tuple([z.literal('down'), z.string()])]);
const TakeReply = z.union([z.tuple([z.enum(['mine', 'none'])]), z.tuple([z.literal('later'), z.number()])]);
const Flat = z.array(z.string());

/** A brake as those see it who wait for it; times in ms of Redis' clock. */
export interface Brake {
  from: number;
  until: number;
  why: string;
}

export type Admission =
  | { kind: 'go' }
  /** The model answers nobody. */
  | { kind: 'down'; why: string }
  /** To be asked again after `ms`; the brake stands there also when it is over. */
  | { kind: 'wait'; ms: number; cause: 'brake' | 'turn' | 'slots' | 'asking'; brake: Brake };

export type CallEnd = 'ok' | 'overloaded' | 'rate_limited' | 'transient' | 'asked' | 'none';
export type Verdict = { kind: 'up' | 'asking' } | { kind: 'down'; why: string };
export type ProbeTurn = { kind: 'mine' | 'none' } | { kind: 'later'; ms: number };
export type ProbeEnd = 'answered' | 'refused' | 'limited' | 'down' | 'dropped';

/** A task that parked while its model was down. */
export interface Waiting {
  jobId: string;
  taskId: string;
  attempt: number;
}

/**
 * What all processes share about models, in Redis by its clock. Every call may throw `unavailable`; a call that names
 * a slot, a probe or a task which is not there any more changes nothing.
 */
export type RateStore = ReturnType<typeof openRateStore>;

/** Opens the governor's state below a keyspace; the connection is the caller's. */
export function openRateStore(redis: RedisClient, keys: Keyspace, times: ProviderTimes) {
  const runScript = prepareRateScripts(redis, keys);
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  const run = async <T>(
    script: RateScript,
    model: ModelName,
    args: readonly (string | number)[],
    reply: z.ZodType<T>,
  ): Promise<T> => reply.parse(await guard(() => runScript(script, model, args)));
  const boundedPause = (ms: number) => Math.ceil(Math.min(ms, times.brakeMostMs));

  return {
    /** May this call start now? It holds a slot then, until it is reported or its lease is over. */
    async admit(model: ModelName, callId: string): Promise<Admission> {
      const reply = await run('admit', model, [callId, times.slotLeaseMs], AdmitReply);
      if (reply[0] === 'go') return { kind: 'go' };
      if (reply[0] === 'down') return { kind: 'down', why: reply[1] };
      const [, ms, cause, from, until, why] = reply;
      return { kind: 'wait', ms, cause, brake: { from, until, why } };
    },

    /** How a call of `task` went, and what pause its answer asks of everybody. `suspected`: a probe is due. */
    async report(
      model: ModelName,
      call: { id: string; task: string; end: CallEnd; askedMs?: number | undefined; why?: string },
    ): Promise<{ at: number; suspected: boolean }> {
      const { brakeMs, spreadMs, windowMs, probeMs } = times;
      const { id, task, end, askedMs = 0, why = '' } = call;
      const args = [id, end, task, boundedPause(askedMs), why, brakeMs, spreadMs, windowMs, probeMs];
      const [at, suspected] = await run('report', model, [...args, nameOfModel(model)], ReportReply);
      return { at, suspected: suspected === 1 };
    },

    /** Renews the slots of calls that last. */
    async renew(model: ModelName, callIds: readonly string[]): Promise<void> {
      await run('renew', model, [times.slotLeaseMs, ...callIds], z.tuple([z.literal('ok')]));
    },

    /** Whether the model answered anybody since `since` (ms of Redis' clock); `asking`: a probe has to tell. */
    async verdict(model: ModelName, since: number, why: string): Promise<Verdict> {
      const args = [since, why, times.probeMs, nameOfModel(model)];
      const reply = await run('verdict', model, args, VerdictReply);
      return reply[0] === 'down' ? { kind: 'down', why: reply[1] } : { kind: reply[0] };
    },

    /** Takes the model's one probe under a lease, when it is due. */
    async takeProbe(model: ModelName, token: string): Promise<ProbeTurn> {
      const leaseMs = times.probeTimeoutMs + times.slotLeaseMs;
      const reply = await run('take_probe', model, [token, leaseMs], TakeReply);
      return reply[0] === 'later' ? { kind: 'later', ms: reply[1] } : { kind: reply[0] };
    },

    async endProbe(
      model: ModelName,
      token: string,
      end: { outcome: ProbeEnd; why: string; askedMs: number },
    ): Promise<void> {
      const { spreadMs, vouchMs, probeMostMs, refusedMs, refusedMostMs } = times;
      const args = [token, end.outcome, end.why, boundedPause(end.askedMs), spreadMs, vouchMs];
      await run(
        'end_probe',
        model,
        [...args, probeMostMs, refusedMs, refusedMostMs],
        z.tuple([z.enum(['ok', 'stale'])]),
      );
    },

    /** Remembers a task that is about to park because the model is down. */
    async registerParked(model: ModelName, { jobId, taskId, attempt }: Waiting): Promise<void> {
      const args = [`${jobId}/${taskId}`, attempt, nameOfModel(model)];
      await run('register_parked', model, args, z.tuple([z.literal('ok')]));
    },

    /** Remembers a job that is about to pause because its calls are refused. */
    async registerPaused(model: ModelName, jobId: string): Promise<void> {
      const args = [jobId, times.refusedMs, times.refusedMostMs, nameOfModel(model)];
      await run('register_paused', model, args, z.tuple([z.literal('ok')]));
    },

    /** Tasks to wake, at most `most`; none while the model is down. */
    async toWake(model: ModelName, most: number): Promise<Waiting[]> {
      const flat = await run('to_wake', model, [most], Flat);
      return flat.flatMap((member, at) => {
        const [jobId, taskId] = member.split('/');
        if (at % 2 === 1 || jobId === undefined || taskId === undefined) return [];
        return [{ jobId, taskId, attempt: Number(flat[at + 1]) }];
      });
    },

    /** Forgets tasks that were woken. False when nothing is left of the model to look after. */
    async forget(model: ModelName, tasks: readonly Waiting[]): Promise<boolean> {
      const args = tasks.flatMap(({ jobId, taskId, attempt }) => [`${jobId}/${taskId}`, attempt]);
      return (await run('forget', model, [nameOfModel(model), ...args], z.number())) === 1;
    },

    /** Jobs to resume when a probe is answered. */
    pausedJobs: (model: ModelName): Promise<string[]> =>
      guard(() => redis.smembers(keys.global(`rate:paused:${nameOfModel(model)}`))),
    async forgetPaused(model: ModelName, jobId: string): Promise<void> {
      await guard(() => redis.srem(keys.global(`rate:paused:${nameOfModel(model)}`), jobId));
    },

    /** Names of the models that have something to look after. */
    watched: (): Promise<string[]> => guard(() => redis.smembers(watchedKey(keys))),
  };
}
