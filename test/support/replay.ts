import { z } from 'zod';
import type { Recording, Tool } from '../../packages/contracts/src/index.ts';
import { allText, httpError, type MessagesRequest, reply, type Script } from './scripted-messages-api.ts';

/** The recorded ID of the task becomes that of the task which the request is about. */
function forOwnTask<T>(recorded: T, recordedId: string, request: MessagesRequest): T {
  const own = /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? recordedId;
  return JSON.parse(JSON.stringify(recorded).replaceAll(recordedId, own));
}

const asksForSummary = ({ messages }: MessagesRequest) =>
  JSON.stringify(messages.at(-1)).includes('will be replaced by your summary');
const tooLong = () =>
  httpError(
    400,
    'invalid_request_error',
    {},
    'prompt is too long: it was made shorter here when this was recorded',
  );

/**
 * A scripted model that says what was recorded, reply by reply; calls on its own task name the task it now works on. A
 * summary is given to the call that asks for one: where that has not come, the conversation is said to be too long. After
 * the last reply it ends its turn empty.
 */
export function replayed(recording: Recording): Script {
  let next = 0;
  return (request) => {
    const recorded = recording.replies[next];
    if (asksForSummary(request) !== (recorded?.isSummary === true)) return tooLong();
    if (recorded === undefined) return reply([]);
    next++;
    const { content, stopReason, usage } = forOwnTask(recorded, recording.taskId, request);
    return reply(content, {
      stopReason,
      usage: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        cache_read_input_tokens: usage.cacheReadTokens,
        cache_creation_input_tokens: usage.cacheWriteTokens,
      },
    });
  };
}

/** Tools of boards that may end an attempt, also where every call of the recording was refused or brought news. */
const MAY_END = new Set([
  'board_submit',
  'board_fail',
  'board_block',
  'board_wait',
  'submit_plan',
  'finish_job',
]);

/**
 * Stand-ins for the tools that the conversation called: each call answers what it was answered then. An answer that was
 * cut is whole here: the replaying run must allow as many characters.
 */
export function replayedTools(recording: Recording): Tool[] {
  const calls = recording.replies.flatMap(({ content }) => content).filter(({ type }) => type === 'tool_use');
  const results = new Map(recording.results.map((result) => [result.toolUseId, result]));
  return [...new Set(calls.map(({ name }) => String(name)))].map((name) => ({
    name,
    description: `The recorded answers of ${name}.`,
    inputSchema: z.looseObject({}),
    readOnly: recording.readOnlyTools.includes(name),
    bookkeeping: recording.bookkeepingTools.includes(name),
    // A call without a result ended its attempt.
    endsAttempt:
      MAY_END.has(name) || calls.some((call) => call.name === name && !results.has(String(call.id))),
    execute: async (_, { toolUseId }) => {
      const result = results.get(toolUseId);
      if (result === undefined) return { content: '', end: recording.end ?? { kind: 'done' } };
      return { content: result.content, isError: result.isError };
    },
  }));
}
