import type { ContentBlock } from '@crewboard/contracts';
import { messageJson, type ReplyMessage } from './wire.ts';

/** One server-sent event of a streamed reply; its name is its `type`. */
export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

/** How many characters one delta carries. */
const DELTA_CHARACTERS = 400;

/** Cuts `text` into deltas; never inside a surrogate pair, as each delta is a JSON text of its own. */
function pieces(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + DELTA_CHARACTERS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

function stringField(block: ContentBlock, field: string): string {
  const value = block[field];
  return typeof value === 'string' ? value : '';
}

/** A block as `content_block_start` shows it, and the deltas that fill it. */
function blockParts(block: ContentBlock): { start: ContentBlock; deltas: Record<string, unknown>[] } {
  switch (block.type) {
    case 'text':
      return {
        start: { ...block, text: '' },
        deltas: pieces(stringField(block, 'text')).map((text) => ({ type: 'text_delta', text })),
      };
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...pieces(stringField(block, 'thinking')).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: stringField(block, 'signature') },
        ],
      };
    case 'tool_use':
    case 'server_tool_use': {
      const json = typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? {});
      return {
        start: { ...block, input: {} },
        deltas: ['', ...pieces(json)].map((partial) => ({ type: 'input_json_delta', partial_json: partial })),
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}

/**
 * Returns the events of `message` in the API's order. A tool call whose `input` is a string streams it as raw
 * JSON text: that is how a call cut by `max_tokens` looks. Block types without deltas arrive whole in their start.
 */
export function streamEvents(message: ReplyMessage): StreamEvent[] {
  const opening = { ...message, content: [], usage: { ...message.usage, output_tokens: 1 } };
  const events: StreamEvent[] = [
    { type: 'message_start', message: { ...messageJson(opening), stop_reason: null, stop_details: null } },
  ];
  for (const [index, block] of message.content.entries()) {
    const { start, deltas } = blockParts(block);
    events.push({ type: 'content_block_start', index, content_block: start });
    if (index === 0) events.push({ type: 'ping' });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const { stop_reason, stop_sequence, stop_details, container } = messageJson(message);
  events.push(
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details, container },
      usage: { ...message.usage, output_tokens_details: null, server_tool_use: null },
    },
    { type: 'message_stop' },
  );
  return events;
}

/** Returns the text of one event on the wire. */
export function encodeEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
