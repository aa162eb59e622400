import { fork } from 'node:child_process';
import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import { createModelCall, runAgent } from '@crewboard/agent';
import { JOURNAL_FORMAT, type Journal, type JournalEntry, type Tool } from '@crewboard/contracts';
import { z } from 'zod';
import { median, report } from './support.ts';

/**
 * Turns/s of agents in one process against a Messages API without latency (in a process of its own), over the bare SDK
 * client that has the same conversations; alternating rounds. One turn is a call, one tool, its result.
 * `node --conditions=@crewboard/source --import tsx bench/agent-turns.ts`
 */
const ROUNDS = 7;
const AGENTS = 8;
const TURNS = 40;
/** Conversations that each agent has one after the other in a round: one round shows more than the start of a process. */
const CONVERSATIONS = 5;
const SYSTEM = 'You are a benchmark.';

const look: Tool = {
  name: 'look',
  description: 'Looks.',
  inputSchema: z.looseObject({ n: z.number() }),
  readOnly: true,
  execute: async (input) => ({ content: JSON.stringify(input) }),
};
const API_TOOLS: Anthropic.Tool[] = [
  {
    name: 'look',
    description: look.description,
    input_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
];

function memoryJournal(): Journal {
  const entries: JournalEntry[] = [];
  return {
    entries,
    async append(entry) {
      const id = String(entries.length);
      entries.push({ v: JOURNAL_FORMAT, id, attempt: 1, ...entry });
    },
  };
}

async function runAgentOnce(baseUrl: string): Promise<void> {
  const outcome = await runAgent({
    model: 'bench',
    system: SYSTEM,
    tools: [look],
    journal: memoryJournal(),
    callModel: createModelCall({ baseUrl, apiKey: 'none', idleMs: 60_000 }),
    opening: ['Look.'],
    attempt: 1,
    limits: {
      maxTurns: TURNS,
      toolTimeoutMs: 60_000,
      parallelTools: 4,
      modelTries: 1,
      modelRetryMs: 0,
      maxResultChars: 10_000,
      timeoutMs: 600_000,
    },
    emit: () => {},
    signal: new AbortController().signal,
  });
  if (outcome.turns !== TURNS) throw new Error(`ended early: ${JSON.stringify(outcome)}`);
}

async function runSdkOnce(baseURL: string): Promise<void> {
  const client = new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }];
  for (let turn = 0; turn < TURNS; turn++) {
    const request = { model: 'bench', max_tokens: 8192, system: SYSTEM, messages, tools: API_TOOLS };
    const reply = await client.messages.stream(request).finalMessage();
    messages.push({ role: 'assistant', content: reply.content });
    const results = reply.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: JSON.stringify(block.input) }]
        : [],
    );
    messages.push({ role: 'user', content: results });
  }
}

interface Speed {
  turnsPerSecond: number;
  /** By the processor time of this process: steadier where other programs run. */
  turnsPerCpuSecond: number;
}

async function speedOf(once: () => Promise<void>): Promise<Speed> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const lane = async () => {
    for (let done = 0; done < CONVERSATIONS; done++) await once();
  };
  await Promise.all(Array.from({ length: AGENTS }, lane));
  const { user, system } = process.cpuUsage(cpuBefore);
  const turns = AGENTS * CONVERSATIONS * TURNS;
  return {
    turnsPerSecond: (turns * 1000) / (performance.now() - startedAt),
    turnsPerCpuSecond: (turns * 1_000_000) / (user + system),
  };
}

const server = fork(new URL('./model-server.ts', import.meta.url));
const [port] = await once(server, 'message');
const url = `http://127.0.0.1:${port}`;
const rounds: { agent: Speed; sdk: Speed }[] = [];
// The first round warms both up and does not count.
for (let round = 0; round <= ROUNDS; round++) {
  const agent = await speedOf(() => runAgentOnce(url));
  const sdk = await speedOf(() => runSdkOnce(url));
  if (round > 0) rounds.push({ agent, sdk });
}
server.kill();
for (const unit of ['turnsPerSecond', 'turnsPerCpuSecond'] as const) {
  const of = (who: 'agent' | 'sdk') => median(rounds.map((round) => round[who][unit])).toFixed(0);
  process.stdout.write(`${unit}: agent ${of('agent')}, bare SDK ${of('sdk')}, ${AGENTS} beside each other\n`);
  const ratios = rounds.map(({ agent, sdk }) => agent[unit] / sdk[unit]);
  report(`agent over the bare SDK client, ${unit}`, median(ratios), '>= 0.8', ratios);
}
