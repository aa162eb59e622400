import type Anthropic from '@anthropic-ai/sdk';
import type { Tool } from '@crewboard/contracts';
import { z } from 'zod';

const CACHED = { cache_control: { type: 'ephemeral' } } as const;

const published = new WeakMap<Tool['inputSchema'], Anthropic.Tool.InputSchema>();

/** A tool's input schema as JSON Schema; the API wants an object at the top. Made once a schema: siblings share them. */
export function jsonSchemaOf({ inputSchema }: Tool): Anthropic.Tool.InputSchema {
  const known = published.get(inputSchema);
  if (known !== undefined) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(inputSchema, { io: 'input', unrepresentable: 'any' });
  const made: Anthropic.Tool.InputSchema = { ...schema, type: 'object' };
  published.set(inputSchema, made);
  return made;
}

/** The tools as the API wants them, in the given order, with a cache breakpoint on the last. */
export function toApiTools(tools: readonly Tool[]): Anthropic.Tool[] {
  return tools.map((tool, index) => ({
    name: tool.name,
    description: tool.description,
    input_schema: jsonSchemaOf(tool),
    ...(index === tools.length - 1 ? CACHED : {}),
  }));
}

/** The system prompt as one block with a cache breakpoint; none when it is blank. */
export function toSystem(text: string): Anthropic.TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text, ...CACHED }];
}

function isCacheable(
  block: Anthropic.ContentBlockParam | undefined,
): block is Anthropic.TextBlockParam | Anthropic.ToolResultBlockParam {
  return block?.type === 'text' || block?.type === 'tool_result';
}

/** Returns `messages` with a cache breakpoint on the last block, unless it is a reply that goes on. */
export function withBreakpoint(messages: readonly Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') return [...messages];
  const block = last.content.at(-1);
  if (!isCacheable(block)) return [...messages];
  const content = [...last.content.slice(0, -1), { ...block, ...CACHED }];
  return [...messages.slice(0, -1), { ...last, content }];
}
