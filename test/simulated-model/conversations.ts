import type { ContentBlock } from '../../packages/contracts/src/index.ts';
import type { Conversation, Exchange } from '../../packages/simulated-model/src/conversation.ts';
import { type MessagesRequest, respond } from '../../packages/simulated-model/src/index.ts';
import { checkRequest } from '../support/messages-rules.ts';

export interface ToolCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** A conversation of given exchanges, for the parts that read one. */
export function conversationOf(exchanges: Exchange[], tools: string[] = []): Conversation {
  return { tools: new Set(tools), told: [], exchanges, maxTokens: 100_000 };
}

/** A request with the tools named, and one user message. */
export function opening(tools: readonly string[], text: string, maxTokens = 32_000): MessagesRequest {
  return {
    model: 'simulated',
    max_tokens: maxTokens,
    tools: tools.map((name) => ({ name, description: `Tool ${name}.`, input_schema: { type: 'object' } })),
    messages: [{ role: 'user', content: text }],
  };
}

/** The task ID of a number: different for each, and of the form that the contracts ask for. */
export function taskIdOf(number: number): string {
  const digits = number.toString(8).padStart(8, '0');
  return `t_${Array.from(digits, (digit) => Number(digit) + 2).join('')}`;
}

export function callsIn(content: readonly ContentBlock[]): ToolCall[] {
  return content.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ id: String(block.id), name: String(block.name), input: Object(block.input) }]
      : [],
  );
}

/** What a tool answers in a test: JSON or text; an Error is refused with its message as the result. */
export type Answer = unknown;

function resultBlock(id: string, answer: Answer): ContentBlock {
  if (answer instanceof Error) {
    return { type: 'tool_result', tool_use_id: id, content: answer.message, is_error: true };
  }
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof answer === 'string' ? answer : JSON.stringify(answer),
  };
}

/** A refusal in the form that all tools share. */
export function refused(code: string, detail: string, retry = 'never'): Error {
  return new Error(JSON.stringify({ code, detail, retry }));
}

/**
 * Plays a whole conversation: asks `respond`, runs the calls it makes with `execute`, and goes on until `ends`
 * says so of a call, or a turn has no call. Every request is checked by the API's rules. Returns all calls.
 */
export async function play(
  request: MessagesRequest,
  execute: (call: ToolCall) => Answer | Promise<Answer>,
  ends: (call: ToolCall) => boolean,
  maxTurns = 200,
): Promise<{ calls: ToolCall[]; turns: number; said: string[] }> {
  const calls: ToolCall[] = [];
  const said: string[] = [];
  const messages = [...request.messages];
  for (let turn = 1; turn <= maxTurns; turn++) {
    const now = { ...request, messages };
    const broken = checkRequest(now);
    if (broken.length > 0) throw new Error(broken.join('\n'));
    const reply = respond(now);
    said.push(...reply.content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])));
    const made = callsIn(reply.content);
    calls.push(...made);
    if (made.length === 0 || made.some(ends)) return { calls, turns: turn, said };
    const results: ContentBlock[] = [];
    for (const call of made) results.push(resultBlock(call.id, await execute(call)));
    messages.push({ role: 'assistant', content: [...reply.content] }, { role: 'user', content: results });
  }
  throw new Error(
    `no end after ${maxTurns} turns; the last calls: ${calls.slice(-3).map(({ name }) => name)}`,
  );
}
