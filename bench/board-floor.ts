import { newSecret } from '@crewboard/contracts';
import { benchJob, idsOf, inLanes, median, openBench, report, work } from './support.ts';

/** Transitions/s with 64 in flight, over an EVALSHA that does one HSET, from the same client; alternating rounds. */
const ROUNDS = 7;
const TASKS = 3000;
const LANES = 64;

const bench = await openBench();
const { boards, redis } = bench;
const sha = String(await redis.script('LOAD', "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])"));
const floor = async () => {
  const seconds = await inLanes(0, TASKS * 2, LANES, (i) =>
    redis.evalsha(sha, 1, '{bench}:floor', i, newSecret()),
  );
  return (TASKS * 2) / seconds;
};
/** `width` dependencies a task: on the tasks before the ones that may be in flight at the same time. */
const board = async (width: number) => {
  const tasks = Array.from({ length: TASKS }, (_, i) => ({
    key: `k${i}`,
    title: `Task ${i}`,
    dependsOn: i >= LANES * 2 ? Array.from({ length: width }, (_, n) => `k${i - LANES * 2 + n}`) : [],
  }));
  const jobId = await benchJob(boards, tasks, LANES);
  const ids = await idsOf(redis, boards, jobId);
  const seconds = await inLanes(0, TASKS, LANES, (i) => work(boards, jobId, ids[i] ?? ''));
  return (TASKS * 2) / seconds;
};

for (const [width, target] of [
  [0, '>= 0.35'],
  [2, '>= 0.28'],
] as const) {
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const perSecond = await board(width);
    ratios.push(perSecond / (await floor()));
  }
  report(`transitions over the floor, ${width} dependencies a task`, median(ratios), target, ratios);
}
await bench.close();
