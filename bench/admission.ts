import { randomBytes } from 'node:crypto';
import type { ModelCall } from '@crewboard/agent';
import { parseEnvironment } from '@crewboard/contracts';
import { createGovernor, settingsFrom } from '@crewboard/orchestrator';
import { inLanes, median, openBench, report } from './support.ts';

/**
 * What the governor adds to one model call when nothing brakes: a call that answers at once, bare and through the
 * governor; one at a time, and 64 in flight; alternating rounds.
 * `node --conditions=@crewboard/source --import tsx bench/admission.ts`
 */
const ROUNDS = 7;
const CALLS = 4000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const bench = await openBench();
const usage = { modelCalls: 1, inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const answers: ModelCall = async ({ model }) => ({
  messageId: randomBytes(4).toString('hex'),
  model,
  content: [],
  stopReason: 'end_turn',
  usage,
});
const governor = createGovernor({
  redis: bench.redis,
  boards: bench.boards,
  settings: settingsFrom(parseEnvironment({ ANTHROPIC_API_KEY: 'none' }), process.cwd()),
  callModelOf: () => answers,
  log: silent,
});
const request = { model: 'bench', system: [], tools: [], messages: [], maxTokens: 1 };
const lanesOf = (lanes: number) =>
  Array.from({ length: lanes }, (_, i) => ({
    signal: new AbortController().signal,
    ...governor.callsOf('anthropic', { jobId: 'job_bench', taskId: `t_${i}`, attempt: 1 }),
  }));

for (const lanes of [1, 64]) {
  const calls = lanesOf(lanes);
  const round = (call: (i: number) => Promise<unknown>) => inLanes(0, CALLS, lanes, call);
  const callOf = async (n: number, direct?: ModelCall) => {
    const lane = calls[n % lanes];
    if (lane !== undefined) await (direct ?? lane.call)(request, { signal: lane.signal });
  };
  const added: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const bare = await round((n) => callOf(n, answers));
    const governed = await round((n) => callOf(n));
    added.push(((governed - bare) / CALLS) * 1000);
  }
  report(`ms a call through the governor, ${lanes} in flight`, median(added), 'below 1', added);
}
governor.close();
await bench.close();
