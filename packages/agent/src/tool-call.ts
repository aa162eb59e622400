import {
  type AttemptEnd,
  CrewboardError,
  type Tool,
  type ToolAnswer,
  toToolError,
} from '@crewboard/contracts';
import { adviceFor, withOwnNext } from './advice.ts';
import type { ToolCall, Turn } from './conversation.ts';
import { exampleOf } from './example.ts';
import { type Keep, takeIn, takeInWhole } from './intake.ts';
import { linkAbort, untilAborted } from './linked-abort.ts';
import { OUTCOME_UNKNOWN } from './messages.ts';
import { jsonSchemaOf } from './request.ts';
import type { Run } from './run.ts';
import { thrownText } from './thrown-text.ts';
import { timerMs } from './timers.ts';
import { doubtOf, readAnswer } from './tool-answer.ts';
import { parseToolInput } from './tool-input.ts';

/** How a call went; every way that a call can go wrong ends in the same shape. */
export interface FinishedCall {
  content: string;
  isError: boolean;
  isNews?: boolean | undefined;
  end?: AttemptEnd | undefined;
}

interface Ready {
  ready: true;
  tool: Tool;
  input: unknown;
}
type Prepared = Ready | { ready: false; error: string };

function notInPlanMode(run: Run, tool: Tool, allows: readonly string[]): CrewboardError {
  const allowed = allows.filter((name) => run.tools.has(name));
  return new CrewboardError(
    'plan_mode',
    `${tool.name} is not allowed before a person has approved the plan`,
    { next: `use read-only tools${allowed.map((name) => `, or ${name}`).join('')}` },
  );
}

/** An error as the model is told it, with calls of its own tools. */
function told(run: Run, tool: Tool, refusal: CrewboardError, given: unknown): string {
  const error = withOwnNext(run, refusal);
  return toToolError(error, {
    say: (next, example, change) => adviceFor(run, { tool, error, given }, next, { example, change }),
    refused: { schema: tool.inputSchema, given },
    example: exampleOf(jsonSchemaOf(tool)),
  });
}

function errorText(run: Run, tool: Tool, error: unknown, given: unknown): string {
  try {
    if (error instanceof CrewboardError) return told(run, tool, error, given);
  } catch {
    // What a tool throws may be made so that it can't be told: then its message has to do.
  }
  return `${tool.name} failed: ${thrownText(error)}`;
}

/** Finds the tool and checks the input; nothing has happened yet when it refuses. */
function prepare(run: Run, turn: Turn, call: ToolCall): Prepared {
  const tool = run.tools.get(call.name);
  if (tool === undefined) {
    const names = [...run.tools.keys()].join(', ');
    return { ready: false, error: `there is no tool named "${call.name}". The tools are: ${names}` };
  }
  if (turn.started.has(call.id) && !tool.readOnly && tool.idempotent !== true) {
    return { ready: false, error: OUTCOME_UNKNOWN };
  }
  const { planMode } = run.options;
  if (planMode !== undefined && !tool.readOnly && !planMode.allows.includes(tool.name)) {
    return { ready: false, error: told(run, tool, notInPlanMode(run, tool, planMode.allows), call.input) };
  }
  try {
    const parsed = parseToolInput(tool, call.input);
    if (!parsed.ok) return { ready: false, error: told(run, tool, parsed.error, parsed.given) };
    return { ready: true, tool, input: parsed.input };
  } catch (error) {
    // A tool's own schema may throw; that is the call's failure, not the attempt's.
    return { ready: false, error: errorText(run, tool, error, call.input) };
  }
}

/**
 * Runs the tool until it answers, throws, or its time is over. Rejects only when the run itself is aborted: then
 * the call has no result, and the next attempt decides by the journal.
 */
async function execute(
  run: Run,
  { tool, input }: Ready,
  ids: { toolUseId: string; requestId: string },
): Promise<ToolAnswer> {
  const timeoutMs = timerMs(tool.timeoutMs ?? run.options.limits.toolTimeoutMs);
  const limit = linkAbort(run.signal);
  const timer = setTimeout(() => limit.abort(new Error(`timed out after ${timeoutMs} ms`)), timeoutMs);
  const context = { signal: limit.signal, ...ids };
  try {
    run.signal.throwIfAborted();
    const answered = await untilAborted((async () => tool.execute(input, context))(), limit.signal);
    return readAnswer(tool, answered);
  } catch (error) {
    run.signal.throwIfAborted();
    if (!limit.signal.aborted) return { content: errorText(run, tool, error, input), isError: true };
    const content = `${tool.name} timed out after ${timeoutMs} ms and was stopped.${doubtOf(tool)}`;
    return { content, isError: true };
  } finally {
    clearTimeout(timer);
    limit.release();
  }
}

/** How this run keeps what is not shown whole; undefined when it keeps nothing. */
function keeper(run: Run, requestId: string): Keep | undefined {
  const { keepWhole } = run.options;
  if (keepWhole === undefined) return undefined;
  return async (whole) => {
    try {
      return await untilAborted(keepWhole(whole, { requestId, signal: run.signal }), run.signal);
    } catch {
      // A run that ends leaves the call to the next one; else it went well, kept or not.
      run.signal.throwIfAborted();
      return undefined;
    }
  };
}

/** Takes the answer in. Rejects only when the run is aborted. */
async function finish(run: Run, answer: ToolAnswer, requestId: string): Promise<FinishedCall> {
  const { maxResultChars } = run.options.limits;
  const keep = keeper(run, requestId);
  const content =
    keep === undefined
      ? takeIn(answer.content, maxResultChars)
      : await takeInWhole(answer, maxResultChars, keep);
  const { isError = false, isNews, end } = answer;
  return { content, isError, isNews, end };
}

/**
 * Answers one call: prepare, execute, finish. A tool that is not read-only is journalled as started before it runs.
 * Rejects only when the run is aborted or the journal is lost.
 */
export async function answerCall(run: Run, turn: Turn, call: ToolCall): Promise<FinishedCall> {
  const ids = { toolUseId: call.id, requestId: `${turn.index}/${call.id}` };
  const prepared = prepare(run, turn, call);
  if (!prepared.ready) return finish(run, { content: prepared.error, isError: true }, ids.requestId);
  if (!prepared.tool.readOnly && !turn.started.has(call.id)) {
    await run.append({ kind: 'tool.started', toolUseId: call.id, name: call.name });
  }
  run.emit({ type: 'tool.started', toolUseId: call.id, name: call.name });
  const startedAt = performance.now();
  const finished = await finish(run, await execute(run, prepared, ids), ids.requestId);
  const durationMs = Math.round(performance.now() - startedAt);
  run.emit({
    type: 'tool.ended',
    toolUseId: call.id,
    name: call.name,
    isError: finished.isError,
    durationMs,
  });
  return finished;
}
