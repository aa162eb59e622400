import type { AttemptEnd } from '@crewboard/contracts';
import type { ToolCall, Turn } from './conversation.ts';
import { takeIn } from './intake.ts';
import { TOO_MANY_CALLS, TURN_CALLS_MOST } from './not-run.ts';
import type { Run } from './run.ts';
import { answerCall } from './tool-call.ts';
import { repeatRefusal } from './turn-bounds.ts';

async function journalResult(
  run: Run,
  call: ToolCall,
  content: string,
  isError: boolean,
  isNews = false,
): Promise<void> {
  const news = isNews ? { isNews } : {};
  await run.append({ kind: 'tool.result', toolUseId: call.id, content, isError, ...news });
}

function mayEnd(run: Run, call: ToolCall): boolean {
  return run.tools.get(call.name)?.endsAttempt === true;
}

/** The one call of a turn that may end the attempt: the first of its kind. */
function enderOf(run: Run, turn: Turn): ToolCall | undefined {
  return turn.calls.slice(0, TURN_CALLS_MOST).find((call) => mayEnd(run, call));
}

/**
 * The call that an earlier attempt ended with: it may end an attempt, and has no result. Undefined for a turn of
 * this attempt, whose calls simply run.
 */
export function endedCallOf(run: Run, turn: Turn | undefined): ToolCall | undefined {
  if (turn === undefined || turn.reply.attempt === run.options.attempt) return undefined;
  const ender = enderOf(run, turn);
  return ender !== undefined && !turn.results.has(ender.id) ? ender : undefined;
}

/**
 * Runs `work` over `items`, at most `limit` at a time. The first error stops the run, so that nothing is still
 * going on when it is thrown.
 */
async function inParallel<T>(run: Run, items: readonly T[], limit: number, work: (item: T) => Promise<void>) {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  const lanes = Array.from({ length: Math.min(limit, queue.length) }, () =>
    lane().catch((error: unknown) => {
      queue.length = 0;
      run.stop(error);
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(lanes)).find((settled) => settled.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * Splits calls into groups that run one after the other: read-only calls that stand side by side share a group, any
 * other call is one of its own, because a later call of the turn may build on what it changes.
 */
function inGroups(run: Run, calls: readonly ToolCall[]): ToolCall[][] {
  const groups: ToolCall[][] = [];
  let shared: ToolCall[] | undefined;
  for (const call of calls) {
    const readOnly = run.tools.get(call.name)?.readOnly === true;
    if (readOnly && shared !== undefined) shared.push(call);
    else groups.push([call]);
    shared = readOnly ? groups.at(-1) : undefined;
  }
  return groups;
}

async function runOrdinary(run: Run, turn: Turn, calls: readonly ToolCall[]): Promise<void> {
  for (const group of inGroups(run, calls)) {
    await inParallel(run, group, run.options.limits.parallelTools, async (call) => {
      const refusal = repeatRefusal(run, turn, call);
      if (refusal !== undefined) return journalResult(run, call, refusal, true);
      const { content, isError } = await answerCall(run, turn, call);
      await journalResult(run, call, content, isError);
    });
  }
}

async function runEnder(run: Run, turn: Turn, call: ToolCall): Promise<AttemptEnd | undefined> {
  const { endedCallAnswer, limits } = run.options;
  if (endedCallAnswer !== undefined && endedCallOf(run, turn) === call) {
    await journalResult(run, call, takeIn(endedCallAnswer, limits.maxResultChars), false);
    return undefined;
  }
  const { content, isError, isNews, end } = await answerCall(run, turn, call);
  if (end === undefined) await journalResult(run, call, content, isError, isNews);
  return end;
}

/** Answers the calls of `open` that are never run, and returns the others. */
async function refuseOthers(run: Run, turn: Turn, open: readonly ToolCall[]): Promise<ToolCall[]> {
  const ender = enderOf(run, turn);
  const within = new Set(turn.calls.slice(0, TURN_CALLS_MOST));
  const left: ToolCall[] = [];
  for (const call of open) {
    const another = `not run: a turn can end with one call only, and ${ender?.name} came first. Call it again if it is still needed.`;
    if (!within.has(call)) await journalResult(run, call, TOO_MANY_CALLS, true);
    else if (call !== ender && mayEnd(run, call)) await journalResult(run, call, another, true);
    else left.push(call);
  }
  return left;
}

/**
 * Answers the calls of a turn that have no result yet: those beyond the bound of a turn, and calls that may end the
 * attempt beyond the first, are refused, ordinary ones run in their order, read-only neighbours in parallel, and the
 * first that may end it runs alone after all others. Returns how the attempt ends, if it does: that call's result is
 * left to the next attempt. Rejects when the run is aborted or the journal is lost.
 */
export async function runCalls(run: Run, turn: Turn): Promise<AttemptEnd | undefined> {
  const unanswered = turn.calls.filter((call) => !turn.results.has(call.id));
  const open = await refuseOthers(run, turn, unanswered);
  const ender = enderOf(run, turn);
  await runOrdinary(
    run,
    turn,
    open.filter((call) => call !== ender),
  );
  return ender !== undefined && open.includes(ender) ? await runEnder(run, turn, ender) : undefined;
}
