import {
  CrewboardError,
  changedAt,
  holdsProto,
  invalidArgument,
  PROTO_REFUSED,
  type Tool,
  valueAt,
} from '@crewboard/contracts';
import type { z } from 'zod';
import { isTooDeep, MAX_DEPTH, wasTooDeep } from './depth.ts';

export type ParsedInput =
  | { ok: true; input: unknown }
  /** `given`: what was refused, as far as it could be repaired. */
  | { ok: false; error: CrewboardError; given: unknown };

type Issue = z.core.$ZodIssue;

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a string should have been, by the issue that the schema has with it; undefined when it is no JSON of that. */
function meant(issue: Issue, text: string): unknown {
  const wantsContainer =
    issue.code === 'invalid_union' ||
    (issue.code === 'invalid_type' && ['object', 'array', 'record', 'tuple'].includes(issue.expected));
  const value = parseJson(text);
  if (wantsContainer) return isContainer(value) ? value : undefined;
  return issue.code === 'invalid_value' && typeof value === 'string' ? value : undefined;
}

/** Models send objects, arrays and enum words as JSON text at times: those places are parsed, once each. */
function mended(input: unknown, issues: readonly Issue[]): unknown {
  return issues.reduce((mending, issue) => {
    const text = valueAt(input, issue.path);
    const value = typeof text === 'string' ? meant(issue, text) : undefined;
    return value === undefined ? mending : changedAt(mending, issue.path, () => value);
  }, input);
}

/** Schemas would drop such a member without a word. */
function protoRefused(tool: Tool): CrewboardError {
  return new CrewboardError('invalid_argument', `the input of ${tool.name} is not taken: ${PROTO_REFUSED}.`);
}

/** Schemas go as deep as their input does, until the stack ends. */
function depthRefused(tool: Tool): CrewboardError {
  return new CrewboardError(
    'invalid_argument',
    `the input of ${tool.name} is not taken: it is nested too deep, at most ${MAX_DEPTH} levels are allowed. Send it flatter.`,
  );
}

/**
 * Parses a call's input by the tool's schema. What does not fit is `invalid_argument` with the first wrong path.
 */
export function parseToolInput(tool: Tool, input: unknown): ParsedInput {
  if (wasTooDeep(input)) return { ok: false, error: depthRefused(tool), given: undefined };
  if (holdsProto(input)) return { ok: false, error: protoRefused(tool), given: undefined };
  const asSent = tool.inputSchema.safeParse(input);
  if (asSent.success) return { ok: true, input: asSent.data };
  const repaired = mended(input, asSent.error.issues);
  if (isTooDeep(repaired)) return { ok: false, error: depthRefused(tool), given: undefined };
  const parsed = repaired === input ? asSent : tool.inputSchema.safeParse(repaired);
  if (parsed.success) return { ok: true, input: parsed.data };
  const error = invalidArgument(`the input of ${tool.name}`, parsed.error, repaired);
  return { ok: false, error, given: repaired };
}
