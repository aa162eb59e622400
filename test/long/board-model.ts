import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { scenarios } from '../board/model/arbitraries.ts';
import type { Scenario } from '../board/model/commands.ts';
import { minimise } from '../board/model/minimise.ts';
import { Disagreement, openBench, runScenario } from '../board/model/run.ts';
import { startTestRedis } from '../support/redis-server.ts';

/**
 * The long form of the board's model test: random scenarios on a Redis of its own, compared with the model after each
 * step. `node --conditions=@crewboard/source --import tsx test/long/board-model.ts --runs 2000 --seed 1 --most 60`
 * Prints the seed, how often each command and each refusal came up, and a shrunk failure as data.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    most: { type: 'string', default: '60' },
  },
});
const runs = Number(values.runs);
const seed = Number(values.seed);
const PROGRESS_EVERY = 100;

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Counts of names, printed the most frequent first. */
class Tally {
  private readonly counts = new Map<string, number>();

  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  toString(): string {
    const sorted = [...this.counts].sort(([, a], [, b]) => b - a);
    return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
  }
}

const server = await startTestRedis();
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
const calls = new Tally();
const refusals = new Tally();
const ends = new Tally();
let steps = 0;
let done = 0;
const bench = openBench(redis, '{model}', (call, answer) => {
  steps += 1;
  calls.add(answer.word === 'ok' ? call.do : `${call.do}:${answer.word}`);
  if (answer.word === 'refused') refusals.add(String(answer.data));
});

say(`seed ${seed}, ${runs} scenarios of up to ${values.most} commands`);
const started = performance.now();
const property = fc.asyncProperty(scenarios(Number(values.most)), async (scenario) => {
  const board = await runScenario(bench, scenario);
  ends.add(board.status);
  done += 1;
  if (done % PROGRESS_EVERY !== 0) return;
  say(`${done} of ${runs}, ${steps} steps, ${Math.round((performance.now() - started) / 1000)} s`);
  await redis.flushall();
});
const result = await fc.check(property, { numRuns: runs, seed, endOnFailure: true });
say(`steps: ${steps}\ncalls: ${calls}\nrefusals: ${refusals}\njobs at the end: ${ends}`);
/** How a scenario fails on the same Redis; undefined when it does not. */
async function failureOf(scenario: Scenario): Promise<unknown> {
  try {
    await runScenario(bench, scenario);
    return undefined;
  } catch (error) {
    return error;
  }
}

const found = result.counterexample?.[0];
if (found === undefined) {
  say(`no disagreement in ${result.numRuns} scenarios`);
} else {
  process.exitCode = 1;
  const wasDisagreement = (await failureOf(found)) instanceof Disagreement;
  const smallest = await minimise(
    found,
    async (smaller) => (await failureOf(smaller)) instanceof Disagreement === wasDisagreement,
  );
  const failure = await failureOf(smallest);
  say(
    `failed after ${result.numRuns} scenarios; seed ${result.seed}, path ${result.counterexamplePath}; the scenario:`,
  );
  say(JSON.stringify(smallest));
  say(failure instanceof Error ? failure.message : String(failure));
}
redis.disconnect();
await server.stop();
