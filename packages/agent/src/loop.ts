import { type CallSettlement, CrewboardError, NO_USAGE } from '@crewboard/contracts';
import type { AgentEnd, AgentOptions, AgentOutcome } from './agent.ts';
import { begin, deliver } from './begin.ts';
import { makeRoom } from './compact.ts';
import { takeInReply } from './intake.ts';
import { untilAborted } from './linked-abort.ts';
import { messagesOf } from './messages.ts';
import type { ModelReply, ModelRequest } from './model-call.ts';
import { wrongOption } from './options-check.ts';
import { prefixIdOf } from './prefix.ts';
import { reasonText } from './reason.ts';
import { toApiTools, toSystem, withBreakpoint } from './request.ts';
import { callWithRetries } from './retries.ts';
import { openRun, type Run, tell, totalsOf } from './run.ts';
import { cutReplies, settle } from './settle.ts';
import { thrownText } from './thrown-text.ts';
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
  { turn, prefixId }: { turn: number; prefixId: string },
): Promise<void> {
  const { messageId, model, stopReason, usage } = reply;
  const content = takeInReply(reply.content);
  await run.append({ kind: 'reply', messageId, model, content, stopReason, usage, prefixId }, settles);
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
    if (called.ok) await takeReply(run, called, { turn: turns + 1, prefixId: prefixIdOf(prefix) });
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
  const reason = reasonText(`the harness failed: ${thrownText(error)}`);
  return { kind: 'failed', class: 'infra', reason };
}

/** Runs the attempt, unless an option makes no sense: then nothing is asked or written. */
async function runToEnd(options: AgentOptions): Promise<AgentEnd> {
  const wrong = wrongOption(options);
  if (wrong !== undefined)
    return { kind: 'failed', class: 'infra', reason: `the run was not begun: ${wrong}` };
  const run = openRun(options);
  try {
    return await converse(run);
  } catch (error) {
    return endOfError(run, error);
  } finally {
    run.close();
  }
}

/** A journal that can't be read counts nothing: it is the reason of the outcome already. */
function totals(options: AgentOptions): ReturnType<typeof totalsOf> {
  try {
    return totalsOf(options.journal.entries, options.attempt);
  } catch {
    return { turns: 0, usage: NO_USAGE };
  }
}

/**
 * Runs one attempt of an agent to its end, from wherever its journal stands. Never rejects: every way to stop is a
 * kind of {@link AgentOutcome}; options that make no sense are `failed` with class `infra` before any call. When it
 * returns nothing of the attempt appends to the journal any more.
 */
export async function runAgent(options: AgentOptions): Promise<AgentOutcome> {
  const end = await runToEnd(options);
  const outcome: AgentOutcome = { ...end, ...totals(options) };
  tell(options, { type: 'stopped', outcome });
  return outcome;
}
