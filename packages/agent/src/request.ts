import type Anthropic from '@anthropic-ai/sdk';
import { CrewboardError, type Tool } from '@crewboard/contracts';
import { z } from 'zod';
import { cleanText } from './intake.ts';

const CACHED = { cache_control: { type: 'ephemeral' } } as const;

const published = new WeakMap<Tool['inputSchema'], Anthropic.Tool.InputSchema>();

/** The API wants an object at the top, and no choice between several. A schema of anything may well get an object. */
function isOfObjects(schema: z.core.JSONSchema.JSONSchema): boolean {
  const isChoice = ['anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in schema);
  return !isChoice && (schema.type === undefined || schema.type === 'object');
}

/**
 * A tool's input schema as JSON Schema. Made once a schema: siblings share them. Throws `invalid_argument` when that
 * is not an object at the top.
 */
export function jsonSchemaOf({ inputSchema }: Tool): Anthropic.Tool.InputSchema {
  const known = published.get(inputSchema);
  if (known !== undefined) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(inputSchema, { io: 'input', unrepresentable: 'any' });
  if (!isOfObjects(schema))
    throw new CrewboardError('invalid_argument', 'the input of a tool must be one object at the top');
  const made: Anthropic.Tool.InputSchema = { ...schema, type: 'object' };
  published.set(inputSchema, made);
  return made;
}

/** The tools as the API wants them, in the given order, with a cache breakpoint on the last. */
export function toApiTools(tools: readonly Tool[]): Anthropic.Tool[] {
  return tools.map((tool, index) => ({
    name: tool.name,
    description: cleanText(tool.description),
    input_schema: jsonSchemaOf(tool),
    ...(index === tools.length - 1 ? CACHED : {}),
  }));
}

/** The system prompt as one block with a cache breakpoint; none when it is blank. */
export function toSystem(text: string): Anthropic.TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: cleanText(text), ...CACHED }];
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
