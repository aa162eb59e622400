import { type CallSettlement, CrewboardError } from '@crewboard/contracts';
import type { AgentEnd, AgentOptions, AgentOutcome } from './agent.ts';
import { begin, deliver } from './begin.ts';
import { makeRoom } from './compact.ts';
import { takeInReply } from './intake.ts';
import { untilAborted } from './linked-abort.ts';
import { messagesOf } from './messages.ts';
import type { ModelReply, ModelRequest } from './model-call.ts';
import { toApiTools, toSystem, withBreakpoint } from './request.ts';
import { callWithRetries } from './retries.ts';
import { openRun, type Run, totalsOf } from './run.ts';
import { cutReplies, settle } from './settle.ts';
import { wrapUpTexts } from './wrap-up.ts';

const DEFAULT_MAX_TOKENS = 8192;
/** What every current model can write in one reply; doubling stops here unless more was asked for. */
const MAX_OUTPUT_TOKENS = 64_000;

function maxTokensOf(run: Run): number {
  const base = run.options.maxTokens ?? DEFAULT_MAX_TOKENS;
  return Math.min(base * 2 ** cutReplies(run), Math.max(base, MAX_OUTPUT_TOKENS));
}

async function takeReply(
  run: Run,
  { reply, settles }: { reply: ModelReply; settles: CallSettlement | undefined },
  turn: number,
): Promise<void> {
  const { messageId, model, stopReason, usage } = reply;
  const content = takeInReply(reply.content);
  await run.append({ kind: 'reply', messageId, model, content, stopReason, usage }, settles);
  run.emit({ type: 'reply', turn, model, stopReason, usage });
}

/** One agent's conversation: settle the last reply, make room, deliver what is new, ask the model, journal its reply. */
async function converse(run: Run): Promise<AgentEnd> {
  const { attempt, checklistRemind, journal, limits, model } = run.options;
  const prefix = { model, system: toSystem(run.options.system), tools: toApiTools(run.options.tools) };
  const nextNotices = async () => (await run.options.notices?.()) ?? [];
  run.signal.throwIfAborted();
  await begin(run);
  let refusal: AgentEnd | undefined;
  // Bounded: every round adds a reply of this attempt, of which there are at most maxTurns, or a compaction.
  for (;;) {
    const end = await settle(run);
    if (end !== undefined && end.kind !== 'context') return end;
    const stuck = await makeRoom(run, prefix, end ?? refusal);
    if (stuck !== undefined) return stuck;
    const { turns } = totalsOf(journal.entries, attempt);
    if (turns >= limits.maxTurns) {
      return { kind: 'limit', bound: 'turns', reason: `the limit of ${limits.maxTurns} turns is reached` };
    }
    const notices = await untilAborted(nextNotices(), run.signal);
    await deliver(run, [...notices, ...wrapUpTexts(run, turns)]);
    const messages = withBreakpoint(messagesOf(run.conversation(), { remind: checklistRemind === true }));
    const request: ModelRequest = { ...prefix, messages, maxTokens: maxTokensOf(run) };
    run.emit({ type: 'turn.started', turn: turns + 1 });
    const called = await callWithRetries(run, request);
    refusal = called.ok ? undefined : called.end;
    if (called.ok) await takeReply(run, called, turns + 1);
    else if (called.end.kind !== 'context') return called.end;
  }
}

function endOfError(run: Run, error: unknown): AgentEnd {
  const { signal, limits } = run.options;
  if (signal.aborted) return { kind: 'aborted', reason: signal.reason };
  if (run.timedOut()) {
    return { kind: 'limit', bound: 'time', reason: `the time limit of ${limits.timeoutMs} ms is over` };
  }
  if (error instanceof CrewboardError && (error.code === 'lease_lost' || error.code === 'unavailable')) {
    return { kind: 'aborted', reason: error };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', class: 'infra', reason: `the harness failed: ${reason}` };
}

/**
 * Runs one attempt of an agent to its end, from wherever its journal stands. Never rejects: every way to stop is a
 * kind of {@link AgentOutcome}. When it returns nothing of the attempt appends to the journal any more.
 */
export async function runAgent(options: AgentOptions): Promise<AgentOutcome> {
  const run = openRun(options);
  let end: AgentEnd;
  try {
    end = await converse(run);
  } catch (error) {
    end = endOfError(run, error);
  } finally {
    run.close();
  }
  const outcome: AgentOutcome = { ...end, ...totalsOf(options.journal.entries, options.attempt) };
  options.emit({ type: 'stopped', outcome });
  return outcome;
}
