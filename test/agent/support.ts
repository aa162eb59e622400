import { z } from 'zod';
import {
  type AgentEvent,
  type AgentOptions,
  type AgentOutcome,
  createModelCall,
  runAgent,
} from '../../packages/agent/src/index.ts';
import type { Tool, ToolAnswer, ToolContext } from '../../packages/contracts/src/index.ts';
import { type MemoryJournal, memoryJournal } from '../support/memory-journal.ts';
import type { ScriptedApi } from '../support/scripted-messages-api.ts';

export const LIMITS: AgentOptions['limits'] = {
  maxTurns: 20,
  toolTimeoutMs: 10_000,
  parallelTools: 4,
  modelTries: 3,
  modelRetryMs: 200,
  maxResultChars: 1000,
  timeoutMs: 20_000,
};

export interface ToolCallRecord {
  name: string;
  input: unknown;
  requestId: string;
}

/** Makes a tool that answers with `answer` and records its calls in `calls`. */
export function recordingTool(
  calls: ToolCallRecord[],
  tool: Partial<Omit<Tool, 'execute'>> & {
    name: string;
    answer?: ToolAnswer | ((input: unknown, context: ToolContext) => ToolAnswer | Promise<ToolAnswer>);
  },
): Tool {
  const { answer = { content: `${tool.name} ran` }, ...rest } = tool;
  return {
    description: `The tool ${tool.name}.`,
    inputSchema: z.looseObject({}),
    readOnly: true,
    ...rest,
    async execute(input, context) {
      calls.push({ name: tool.name, input, requestId: context.requestId });
      return typeof answer === 'function' ? answer(input, context) : answer;
    },
  };
}

/** The tool that ends every test agent's work. */
export function submitTool(calls: ToolCallRecord[] = [], answer?: ToolAnswer): Tool {
  return recordingTool(calls, {
    name: 'submit',
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    answer: answer ?? { content: 'accepted', end: { kind: 'done' } },
  });
}

export interface RunResult {
  outcome: AgentOutcome;
  journal: MemoryJournal;
  events: AgentEvent[];
}

/** Runs one attempt against `api` over real HTTP. */
export async function runOn(
  api: Pick<ScriptedApi, 'url'>,
  options: Partial<Omit<AgentOptions, 'journal'>> & { journal?: MemoryJournal } = {},
): Promise<RunResult> {
  const { attempt = 1, journal = memoryJournal(attempt), ...rest } = options;
  const events: AgentEvent[] = [];
  const outcome = await runAgent({
    model: 'claude-test',
    system: 'You are a test.',
    tools: [submitTool()],
    callModel: createModelCall({ baseUrl: api.url, apiKey: 'test-key-of-nobody', idleMs: 5000 }),
    opening: ['Do the task.'],
    limits: LIMITS,
    emit: (event) => events.push(event),
    signal: new AbortController().signal,
    ...rest,
    attempt,
    journal,
  });
  return { outcome, journal, events };
}
