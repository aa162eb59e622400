import { isDeepStrictEqual } from 'node:util';
import { openBoards } from '@crewboard/board';
import type { BoardEvent } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import type { Answer, Call, NewModelTask } from './calls.ts';
import type { Scenario } from './commands.ts';
import { listsInRedis, listsOfModel, seenByModel, seenInRedis } from './compare.ts';
import { callsOf, type Memory, toFirstTasks } from './meanings.ts';
import { step, submitted } from './model.ts';
import { openRig, type Rig, type Store } from './rig.ts';
import { slicedClient } from './sliced-client.ts';
import type { ModelBoard, Settings } from './state.ts';

/** Where runs can be carried out, and who is told of each step. */
export interface Bench {
  /** A client and boards whose steps settle at most so many edges; opened once, for preparing scripts takes time. */
  storeFor(slice: number | undefined): Store;
  onStep: (call: Call, answer: Answer) => void;
}

/** Opens a bench on a connection, which stays the caller's. */
export function openBench(redis: Redis, prefix: string, onStep: Bench['onStep'] = () => {}): Bench {
  const stores = new Map<number | undefined, Store>();
  return {
    onStep,
    storeFor(slice) {
      const known = stores.get(slice);
      if (known !== undefined) return known;
      const client = slice === undefined ? redis : slicedClient(redis, slice);
      const store = { redis: client, boards: openBoards(client, prefix) };
      stores.set(slice, store);
      return store;
    },
  };
}

/** A step after which store, log and model do not agree. */
export class Disagreement extends Error {
  readonly at: string;
  readonly expected: unknown;
  readonly found: unknown;

  constructor(at: string, expected: unknown, found: unknown) {
    super(`${at}\nthe model: ${JSON.stringify(expected, null, 1)}\nRedis: ${JSON.stringify(found, null, 1)}`);
    this.name = 'Disagreement';
    this.at = at;
    this.expected = expected;
    this.found = found;
  }
}

/** The differing parts of two views, so that a failure names only what differs. */
function differences(expected: object, found: object): { expected: object; found: object } | undefined {
  const parts = new Map<string, [unknown, unknown]>();
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const a: unknown = Reflect.get(expected, key);
    const b: unknown = Reflect.get(found, key);
    if (isDeepStrictEqual(a, b)) continue;
    const inner = isPlain(a) && isPlain(b) ? differences(a, b) : undefined;
    parts.set(key, inner === undefined ? [a, b] : [inner.expected, inner.found]);
  }
  if (parts.size === 0) return undefined;
  const side = (i: 0 | 1) => Object.fromEntries([...parts].map(([key, pair]) => [key, pair[i] ?? null]));
  return { expected: side(0), found: side(1) };
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refuseDifference(at: string, expected: object, found: object): void {
  const difference = differences(expected, found);
  if (difference !== undefined) throw new Disagreement(at, difference.expected, difference.found);
}

/** A board in Redis beside its model: carries calls out on both and compares after each. */
export class Comparison {
  board: ModelBoard;
  private readonly rig: Rig;
  private readonly bench: Bench;
  private readonly events: BoardEvent[] = [];
  private steps = 0;
  private isClockDue = false;

  private constructor(board: ModelBoard, rig: Rig, bench: Bench) {
    this.board = board;
    this.rig = rig;
    this.bench = bench;
  }

  /** Submits a job with these tasks on both sides. Throws a {@link Disagreement}. */
  static async open(bench: Bench, settings: Settings, tasks: readonly NewModelTask[]): Promise<Comparison> {
    const rig = await openRig(bench.storeFor(settings.slice), settings, tasks);
    const comparison = new Comparison(submitted(settings, tasks), rig, bench);
    await comparison.compare('after the job was submitted');
    return comparison;
  }

  /** Returns the model's answer. Throws a {@link Disagreement}. */
  async call(call: Call): Promise<Answer> {
    this.steps += 1;
    if (this.isClockDue) await this.rig.settleClock();
    const { board, answer } = step(this.board, call);
    const at = `step ${this.steps}: ${JSON.stringify(call)}`;
    const found = await this.rig.perform(call);
    if (!isDeepStrictEqual(answer, found)) throw new Disagreement(at, answer, found);
    this.board = board;
    this.bench.onStep(call, answer);
    this.isClockDue = JSON.stringify(call).match(/"(short|soon|same)"/) !== null;
    await this.compare(at);
    return answer;
  }

  /**
   * Looks the whole board over: filtered lists, and what the doctor finds. Throws a {@link Disagreement} when anything
   * is wrong.
   */
  async examine(): Promise<void> {
    const expected = listsOfModel(this.board);
    refuseDifference(`lists after step ${this.steps}`, expected, await listsInRedis(this.rig));
    const { findings } = await this.rig.boards.examine(this.rig.jobId);
    if (findings.length > 0) throw new Disagreement(`the doctor, after step ${this.steps}`, [], findings);
  }

  private async compare(at: string): Promise<void> {
    const { boards, jobId } = this.rig;
    const fresh = await boards.events(jobId, this.events.at(-1)?.id ?? '0-0', 1000);
    this.events.push(...fresh);
    refuseDifference(at, seenByModel(this.board), await seenInRedis(this.rig, this.events, fresh));
  }
}

function remember(memory: Memory, call: Call, answer: Answer): void {
  const data = typeof answer.data === 'object' && answer.data !== null ? answer.data : {};
  const number = (name: string) => Number(Reflect.get(data, name));
  if (answer.word !== 'ok') return;
  if (call.do === 'claim') memory.claims.push({ claim: number('claim'), task: number('task') });
  if (call.do === 'startChecks') {
    memory.runners.push({ runner: number('runner'), task: call.task, version: number('version') });
  }
}

/** Runs a scenario on a new board in Redis beside the model. Throws a {@link Disagreement} at the first one. */
export async function runScenario(bench: Bench, scenario: Scenario): Promise<ModelBoard> {
  const comparison = await Comparison.open(bench, scenario.settings, toFirstTasks(scenario.tasks));
  const memory: Memory = { claims: [], runners: [], requests: [] };
  for (const command of scenario.commands) {
    for (const call of callsOf(comparison.board, memory, command)) {
      remember(memory, call, await comparison.call(call));
    }
  }
  await comparison.examine();
  return comparison.board;
}
