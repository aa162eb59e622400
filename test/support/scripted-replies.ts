import type { ContentBlock } from '../../packages/contracts/src/index.ts';
import type { WireUsage } from '../../packages/simulated-model/src/index.ts';

/** What a script answers to one call. */
export type ScriptedReply =
  | {
      kind: 'message';
      content: ContentBlock[];
      stopReason?: string;
      usage?: Partial<WireUsage>;
      headers?: Record<string, string>;
    }
  | { kind: 'error'; status: number; type: string; message: string; headers: Record<string, string> }
  | { kind: 'broken'; afterEvents: number; how: 'reset' | 'silence' | 'error'; reply: MessageReply }
  | { kind: 'delay'; ms: number; reply: ScriptedReply }
  | Gate;

export type MessageReply = Extract<ScriptedReply, { kind: 'message' }>;

/** Holds its reply back until a test opens it. `reached` resolves when a call waits at it. */
export interface Gate {
  kind: 'gate';
  reply: ScriptedReply;
  reached: Promise<void>;
  opened: Promise<void>;
  reach(): void;
  open(): void;
}

let nextToolUse = 0;

export function text(value: string): ContentBlock {
  return { type: 'text', text: value, citations: null };
}

/** A tool call. Without an id it gets one that no other call of this process has. */
export function toolUse(name: string, input: Record<string, unknown> = {}, id?: string): ContentBlock {
  return { type: 'tool_use', id: id ?? `toolu_${++nextToolUse}`, name, input, caller: { type: 'direct' } };
}

/** A tool call cut in the middle of its input, as `max_tokens` leaves it. */
export function cutToolUse(name: string, partialJson: string, id?: string): ContentBlock {
  return { ...toolUse(name, {}, id), input: partialJson };
}

export function thinking(value: string, signature = `sig-${++nextToolUse}`): ContentBlock {
  return { type: 'thinking', thinking: value, signature };
}

export function redactedThinking(data = `redacted-${++nextToolUse}`): ContentBlock {
  return { type: 'redacted_thinking', data };
}

/** A whole reply. The stop reason is `tool_use` when it calls a tool, else `end_turn`, unless given. */
export function reply(
  content: ContentBlock[],
  { stopReason, usage }: { stopReason?: string; usage?: Partial<WireUsage> } = {},
): MessageReply {
  const calls = content.some((block) => block.type === 'tool_use');
  return {
    kind: 'message',
    content,
    stopReason: stopReason ?? (calls ? 'tool_use' : 'end_turn'),
    usage: usage ?? {},
  };
}

export function httpError(
  status: number,
  type: string,
  headers: Record<string, string> = {},
  message = `scripted ${type}`,
): ScriptedReply {
  return { kind: 'error', status, type, message, headers };
}

export function overloaded(headers: Record<string, string> = {}): ScriptedReply {
  return httpError(529, 'overloaded_error', headers, 'Overloaded');
}

/** The reply `of`, with headers such as those of rate limits. */
export function withHeaders(headers: Record<string, string>, of: MessageReply): MessageReply {
  return { ...of, headers };
}

/** A 429 that asks to wait `seconds`. */
export function rateLimited(seconds: number, headers: Record<string, string> = {}): ScriptedReply {
  return httpError(429, 'rate_limit_error', { 'retry-after': String(seconds), ...headers });
}

/** Takes the request and never answers it; ends when the client goes away or the server stops. */
export function hang(): ScriptedReply {
  return { kind: 'broken', afterEvents: 0, how: 'silence', reply: reply([text('never sent')]) };
}

/** Sends the first events of `of` and drops the connection. */
export function cutStream(afterEvents: number, of = reply([text('This reply is cut off.')])): ScriptedReply {
  return { kind: 'broken', afterEvents, how: 'reset', reply: of };
}

/** Sends the first events of `of` and then nothing, with the connection open. */
export function stallStream(
  afterEvents: number,
  of = reply([text('This reply goes silent.')]),
): ScriptedReply {
  return { kind: 'broken', afterEvents, how: 'silence', reply: of };
}

/** Sends the first events of `of`, then an `overloaded_error` event, as the API does under load. */
export function errorInStream(afterEvents: number, of = reply([text('This reply fails.')])): ScriptedReply {
  return { kind: 'broken', afterEvents, how: 'error', reply: of };
}

/** Waits `ms` (a real wait: only where the time itself is the subject), then gives `after`. */
export function delay(ms: number, after: ScriptedReply): ScriptedReply {
  return { kind: 'delay', ms, reply: after };
}

/** Holds `held` back until the test calls `open()`. */
export function gate(held: ScriptedReply): Gate {
  let reach = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { kind: 'gate', reply: held, reached, opened, reach: () => reach(), open: () => open() };
}
