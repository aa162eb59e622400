import type { ContentBlock } from '@crewboard/contracts';
import { z } from 'zod';
import type { MessagesRequest, WireMessage } from './wire.ts';

/** One tool call of the conversation with what came back. */
export interface Exchange {
  name: string;
  input: Record<string, unknown>;
  result: string;
  isError: boolean;
}

/** What the model can know: the tools it is offered, what it was told, and what its calls answered. */
export interface Conversation {
  /** Names of the tools on offer. */
  tools: ReadonlySet<string>;
  /** Every text of a user message, oldest first; answers of tools are not among them. */
  told: string[];
  exchanges: Exchange[];
  maxTokens: number;
}

/** What the model does next; without calls it is a plain text turn. */
export interface Move {
  say?: string;
  calls: { name: string; input: Record<string, unknown> }[];
}

/** Counts as the board gives them; missing ones are 0. */
const count = z.number().catch(0);
export const CountsSeen = z.looseObject({
  total: count,
  in_progress: count,
  in_review: count,
  blocked: count,
  completed: count,
  failed: count,
  cancelled: count,
  ready: count,
  scheduled: count,
  unreachable: count,
  held: count,
});
export type CountsSeen = z.infer<typeof CountsSeen>;

function blocksOf(message: WireMessage): ContentBlock[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (typeof block?.text === 'string' ? block.text : '')).join('\n');
}

const RecordSeen = z.record(z.string(), z.unknown()).catch({});

/** Reads a request as a conversation. Calls whose answer is missing are left out. */
export function readConversation(request: MessagesRequest): Conversation {
  const told: string[] = [];
  const exchanges: Exchange[] = [];
  const calls = new Map<unknown, ContentBlock>();
  for (const message of request.messages) {
    for (const block of blocksOf(message)) {
      if (block.type === 'tool_use') calls.set(block.id, block);
      else if (block.type === 'tool_result') {
        const call = calls.get(block.tool_use_id);
        if (call === undefined) continue;
        exchanges.push({
          name: String(call.name),
          input: RecordSeen.parse(call.input),
          result: textOf(block.content),
          isError: block.is_error === true,
        });
      } else if (message.role === 'user' && block.type === 'text') told.push(textOf([block]));
    }
  }
  const tools = new Set(request.tools?.map((tool) => tool.name));
  return { tools, told, exchanges, maxTokens: request.max_tokens };
}

/** Parses `text` as JSON of the given shape; null when it is none. */
export function parseAs<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The last block between the lines `<name>` and `</name>` that the model was told; null when there is none. */
export function toldBlock({ told }: Conversation, name: string): string | null {
  const block = new RegExp(`<${name}>\\s*([\\s\\S]*?)\\s*</${name}>`, 'g');
  return told.flatMap((text) => Array.from(text.matchAll(block), (found) => found[1] ?? '')).at(-1) ?? null;
}

/** The calls of `name`, oldest first. */
export function callsOf({ exchanges }: Conversation, name: string): Exchange[] {
  return exchanges.filter((exchange) => exchange.name === name);
}

const ErrorSeen = z.looseObject({
  code: z.string().catch(''),
  detail: z.string().catch(''),
  retry: z.string().catch(''),
});

/** What a refused call says, whatever its form; `detail` is never empty. */
export function errorOf(exchange: Exchange): { code: string; detail: string; retry: string } {
  const seen = parseAs(ErrorSeen, exchange.result);
  const detail = seen?.detail || exchange.result.trim() || 'the tool gave no reason';
  return { code: seen?.code ?? '', retry: seen?.retry ?? '', detail };
}

/** How many of the last calls in a row are refusals of the same tool. */
export function refusalsInARow({ exchanges }: Conversation): number {
  const name = exchanges.at(-1)?.name;
  let refusals = 0;
  for (const exchange of exchanges.toReversed()) {
    if (exchange.name !== name || !exchange.isError) break;
    refusals++;
  }
  return refusals;
}
