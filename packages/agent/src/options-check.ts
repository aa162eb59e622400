import type { Journal, Tool } from '@crewboard/contracts';
import type { AgentLimits, AgentOptions } from './agent.ts';
import { reasonText } from './reason.ts';
import { jsonSchemaOf } from './request.ts';
import {
  type Check,
  FUNCTION,
  firstBroken,
  NUMBER_ABOVE_0,
  NUMBER_FROM_0,
  optional,
  type Rule,
  SOME_TEXT,
  TEXT,
  wholeFrom,
} from './rules.ts';
import { thrownText } from './thrown-text.ts';

/** The Messages API takes 128; other providers behind the same protocol stop at 64. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const OBJECT: Rule = { must: 'be an object', holds: isObject };
const LIST: Rule = { must: 'be a list', holds: Array.isArray };
const SIGNAL: Rule = { must: 'be an AbortSignal', holds: (value) => value instanceof AbortSignal };
const TOOL: Rule = {
  must: 'be a tool name of 1 to 64 letters, digits, _ or -',
  holds: (value) => typeof value === 'string' && TOOL_NAME.test(value),
};
const ENTRY: Rule = {
  must: 'be a journal entry',
  holds: (value) => isObject(value) && 'kind' in value && typeof value.kind === 'string',
};
const OPENING: Rule = {
  must: 'hold at least one text that is not blank',
  holds: (value) => Array.isArray(value) && value.every(TEXT.holds) && value.some(SOME_TEXT.holds),
};

function ownChecks(options: AgentOptions): Check[] {
  const { attempt, callModel, contextWindow, emit, journal, limits, maxTokens, model, opening } = options;
  return [
    ['model', model, SOME_TEXT],
    ['maxTokens', maxTokens, optional(wholeFrom(1))],
    ['system', options.system, TEXT],
    ['tools', options.tools, LIST],
    ['journal', journal, OBJECT],
    ['callModel', callModel, FUNCTION],
    ['opening', opening, OPENING],
    ['attempt', attempt, wholeFrom(1)],
    ['contextWindow', contextWindow, optional(NUMBER_ABOVE_0)],
    ['limits', limits, OBJECT],
    ['emit', emit, FUNCTION],
    ['signal', options.signal, SIGNAL],
  ];
}

function limitChecks(limits: AgentLimits): Check[] {
  return [
    ['limits.maxTurns', limits.maxTurns, wholeFrom(1)],
    ['limits.toolTimeoutMs', limits.toolTimeoutMs, NUMBER_ABOVE_0],
    ['limits.parallelTools', limits.parallelTools, wholeFrom(1)],
    ['limits.modelTries', limits.modelTries, wholeFrom(1)],
    ['limits.modelRetryMs', limits.modelRetryMs, NUMBER_FROM_0],
    ['limits.maxResultChars', limits.maxResultChars, wholeFrom(1)],
    ['limits.timeoutMs', limits.timeoutMs, NUMBER_ABOVE_0],
  ];
}

function journalChecks({ append, entries }: Journal): Check[] {
  const each = Array.isArray(entries)
    ? entries.map((entry, at): Check => [`journal.entries[${at}]`, entry, ENTRY])
    : [];
  return [['journal.append', append, FUNCTION], ['journal.entries', entries, LIST], ...each];
}

/** The schema of a tool that can't be published, in the words of whoever refused it. */
function wrongSchema(tool: Tool, path: string): string | undefined {
  try {
    jsonSchemaOf(tool);
    return undefined;
  } catch (error) {
    return `${path}.inputSchema can't be published: ${reasonText(thrownText(error))}`;
  }
}

function wrongTool(tool: Tool, at: number, before: readonly Tool[]): string | undefined {
  const path = `tools[${at}]`;
  if (!isObject(tool)) return firstBroken([[path, tool, OBJECT]]);
  const { description, execute, name, timeoutMs } = tool;
  const broken = firstBroken([
    [`${path}.name`, name, TOOL],
    [`${path}.description`, description, SOME_TEXT],
    [`${path}.execute`, execute, FUNCTION],
    [`${path}.timeoutMs`, timeoutMs, optional(NUMBER_ABOVE_0)],
  ]);
  if (broken !== undefined) return broken;
  if (before.some((other) => other.name === name))
    return `${path}.name must be used once, "${name}" is there twice`;
  return wrongSchema(tool, path);
}

function wrongTools(tools: readonly Tool[]): string | undefined {
  for (const [at, tool] of tools.entries()) {
    const wrong = wrongTool(tool, at, tools.slice(0, at));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/**
 * Says which option of a run makes no sense, once and before anything is done; undefined when all do. Types do not hold
 * at run time, and a number may be NaN. Never throws.
 */
export function wrongOption(options: AgentOptions): string | undefined {
  try {
    return (
      firstBroken(ownChecks(options)) ??
      firstBroken(limitChecks(options.limits)) ??
      firstBroken(journalChecks(options.journal)) ??
      wrongTools(options.tools)
    );
  } catch (error) {
    return `the options can't be read: ${reasonText(thrownText(error))}`;
  }
}
