import { benchJob, idsOf, inLanes, median, openBench, report, work } from './support.ts';

/** Claim + submit on a board of 100 tasks against one of 100,000, one caller, alternating rounds. */
const ROUNDS = 9;
const A_ROUND = 80;
const big = Number(process.argv[2] ?? 100_000);

const bench = await openBench();
const { boards, redis } = bench;
const tasks = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));
const bigJob = await benchJob(boards, tasks(big), 8);
const bigIds = await idsOf(redis, boards, bigJob);
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const smallJob = await benchJob(boards, tasks(100), 8);
  const smallIds = await idsOf(redis, boards, smallJob);
  const small = await inLanes(0, A_ROUND, 1, (i) => work(boards, smallJob, smallIds[i] ?? ''));
  const from = round * A_ROUND;
  const large = await inLanes(from, from + A_ROUND, 1, (i) => work(boards, bigJob, bigIds[i] ?? ''));
  ratios.push(large / small);
}
report(`claim + submit, ${big} tasks over 100`, median(ratios), '<= 1.15', ratios);
await bench.close();
