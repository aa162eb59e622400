import {
  artifactRefIn,
  cutUtf8,
  type Evidence,
  type FailureClass,
  type JsonValue,
  type ParkCause,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { type CallName, storedName } from './call-name.ts';
import { withChangedSince } from './changed-since.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';
import { withoutAbsent } from './without-absent.ts';

const VersionReply = z.tuple([z.enum(['ok', 'already']), z.number()]).rest(z.number());
const WaitReply = z.union([
  z.tuple([z.literal('ok'), z.number()]),
  z.tuple([z.literal('already'), z.number(), z.number()]),
  z.tuple([z.literal('still')]),
]);
const StallReply = z.tuple([z.enum(['ok', 'already', 'moving', 'empty'])]);
const AskReply = z.tuple([z.enum(['ok', 'already'])]);
/** Of a text in the log: the whole stands elsewhere. */
const LOGGED_BYTES = 2048;
const FinishReply = z.union([
  z.tuple([z.enum(['ok', 'already']), z.string()]),
  z.tuple([z.enum(['news', 'reopened']), z.string()]),
  z.tuple([z.literal('open'), z.array(z.string()), z.number()]),
]);

export type FinishAnswer =
  | { kind: 'ended'; status: string }
  | { kind: 'news' }
  /** This call ended the job in an earlier attempt, and people have opened it again. */
  | { kind: 'reopened' }
  | { kind: 'open'; taskIds: string[]; openCount: number };

/** Artifacts that a result points at in its evidence, or with an output that is a ref. */
function artifactsPointedAt({
  output,
  evidence,
}: {
  output?: unknown;
  evidence: readonly Evidence[];
}): string[] {
  const inEvidence = evidence.flatMap(({ kind, ref }) =>
    kind === 'artifact' && ref !== undefined ? [ref] : [],
  );
  return [artifactRefIn(output) ?? [], inEvidence].flat();
}

/** How a holder ends its attempt; each call is fenced by the claim token. */
export function attemptEnds(io: BoardIo) {
  return {
    /**
     * Submits a result at the version last shown to the holder: `complete` ends the task, `checks` and `review` wait
     * for a runner or for people. `already` for a repeat. The attempt's artifacts show under their paths once the task is
     * completed. Errors: those of the token, `stale_version` with what changed, `invalid_argument` for an artifact that
     * is named and is none.
     */
    async submit(
      hold: Hold,
      name: CallName,
      version: number,
      result: {
        summary: string;
        output?: JsonValue | undefined;
        /** Refs or paths of the attempt's artifacts; absent: all of its files. */
        artifacts?: readonly string[] | undefined;
        evidence: Evidence[];
      },
      then: 'complete' | 'checks' | 'review' = 'complete',
    ): Promise<{ version: number; already: boolean }> {
      // The script adds the refs of the artifacts.
      const outcome = JSON.stringify({ summary: result.summary });
      const output = withoutAbsent({
        output: result.output,
        evidence: result.evidence.length > 0 ? result.evidence : undefined,
      });
      const stored = Object.keys(output).length === 0 ? '' : JSON.stringify(output);
      const named = result.artifacts === undefined ? '' : JSON.stringify(result.artifacts);
      const others = artifactsPointedAt(result);
      const pointedAt = others.length === 0 ? '' : JSON.stringify(others);
      const call = storedName(name, 'submit');
      const args = [hold.taskId, hold.token, call, version, outcome, stored, named, pointedAt];
      const run = () =>
        then === 'checks'
          ? io.run(hold.jobId, 'submit_checks', args)
          : io.run(hold.jobId, 'submit', [...args, then]);
      const reply = await withChangedSince(io, hold, version, async () =>
        parseReply(await run(), VersionReply),
      );
      return { version: reply[1], already: reply[0] === 'already' };
    },

    /** Ends the attempt as failed; tried again after `delayMs` while it is retryable and attempts are left. */
    async fail(
      hold: Hold,
      name: CallName,
      failure: {
        class: FailureClass;
        reason: string;
        retryable: boolean;
        delayMs: number;
        version?: number | undefined;
        /** At so many strikes a failure of class `infra` is the last. */
        infraStrikes: number;
      },
    ): Promise<void> {
      const args = [
        hold.taskId,
        hold.token,
        storedName(name, 'fail'),
        failure.class,
        failure.reason,
        failure.retryable ? 1 : 0,
        failure.delayMs,
        failure.version ?? '',
        failure.infraStrikes,
      ];
      await withChangedSince(io, hold, failure.version, async () =>
        parseReply(await io.run(hold.jobId, 'fail', args), VersionReply),
      );
    },
  };
}

/** How a holder gives its task back without failing. */
export function attemptReturns(io: BoardIo) {
  return {
    /** Gives the task back at once; not a failure. */
    async release(hold: Hold, name: CallName, reason: string, version?: number): Promise<void> {
      const args = [
        hold.taskId,
        hold.token,
        storedName(name, 'release'),
        'released',
        0,
        '',
        reason,
        0,
        version ?? '',
      ];
      await withChangedSince(io, hold, version, async () =>
        parseReply(await io.run(hold.jobId, 'release', args), VersionReply),
      );
    },

    /**
     * Gives the task back until `delayMs` from now. `strikesToFail` > 0 makes it a strike when the attempt brought
     * nothing; at that many in a row the task fails as `infra` (`failed`). 0 is an end that did not fail, `'kept'` leaves the
     * strikes as they are: it was not the attempt's doing, for which `cause` stands.
     */
    async park(
      hold: Hold,
      name: CallName,
      options: {
        delayMs: number;
        reason: string;
        strikesToFail: number | 'kept';
        cause?: ParkCause | undefined;
      },
    ): Promise<'parked' | 'failed'> {
      const reply = parseReply(
        await io.run(hold.jobId, 'release', [
          hold.taskId,
          hold.token,
          storedName(name, 'park'),
          'parked',
          options.delayMs,
          '',
          options.reason,
          options.strikesToFail === 'kept' ? -1 : options.strikesToFail,
          '',
          options.cause ?? '',
        ]),
        VersionReply,
      );
      return reply[0] === 'ok' && reply[2] === 1 ? 'failed' : 'parked';
    },
  };
}

/** How the lead ends a run or the whole job. */
export function leadEnds(io: BoardIo) {
  return {
    /**
     * Parks the lead until there is news. `still` (nothing changed): nothing runs or can make any. `woken` (nothing
     * changed): an earlier attempt made this very wait and it is over, but its answer was not journalled.
     */
    async waitForNews(hold: Hold, name: CallName): Promise<'parked' | 'still' | 'woken'> {
      const args = [hold.taskId, hold.token, storedName(name, 'wait'), 'parked', 0, 'news', '', 0, ''];
      const reply = parseReply(await io.run(hold.jobId, 'release', args), WaitReply);
      if (reply[0] === 'still') return 'still';
      return reply[0] === 'already' && reply[2] === 1 ? 'woken' : 'parked';
    },

    /**
     * Ends a run of the lead that has nothing to wait for and does nothing: the job pauses (`stall`). `moving` (nothing
     * changed): there is something to wait for by now; `empty` (nothing changed): the job has no task at all.
     */
    async stall(hold: Hold, name: CallName, reason: string): Promise<'stalled' | 'moving' | 'empty'> {
      const [word] = parseReply(
        await io.run(hold.jobId, 'stall', [hold.token, storedName(name, 'wait'), reason]),
        StallReply,
      );
      return word === 'moving' || word === 'empty' ? word : 'stalled';
    },

    /** Puts a question of the lead before people; the answer is a message to the lead. */
    async ask(hold: Hold, name: CallName, question: string): Promise<void> {
      const args = [hold.token, storedName(name, 'ask'), question, cutUtf8(question, LOGGED_BYTES)];
      parseReply(await io.run(hold.jobId, 'ask', args), AskReply);
    },

    /** The lead's end of the job; see the script for what refuses it. */
    async finishJob(
      hold: Hold,
      name: CallName,
      result: { summary: string; output?: JsonValue | undefined },
      waive: readonly { taskId: string; reason: string }[],
    ): Promise<FinishAnswer> {
      const reply = parseReply(
        await io.run(hold.jobId, 'finish_job', [
          hold.token,
          storedName(name, 'finish'),
          JSON.stringify(result),
          JSON.stringify(waive.map(({ taskId, reason }) => [taskId, reason])),
        ]),
        FinishReply,
      );
      if (reply[0] === 'news' || reply[0] === 'reopened') return { kind: reply[0] };
      if (reply[0] === 'open') return { kind: 'open', taskIds: reply[1], openCount: reply[2] };
      return { kind: 'ended', status: reply[1] };
    },
  };
}
