import { parseArgs } from 'node:util';
import { startChaosModel } from '../chaos/model.ts';
import { type Played, play } from '../chaos/play.ts';
import { randomOf } from '../chaos/random.ts';
import { scheduleOf } from '../chaos/schedule.ts';
import { openChaosStack } from '../chaos/stack.ts';

/**
 * Plays fault schedules over real processes: `npm run chaos -- --seed 1 --count 30`. One seed is one job; the stack
 * stays up between seeds. Most of a schedule is waiting, so `--lanes` stacks play side by side. Seeds that once failed
 * come first (`--also 1006,2000`). Prints a line a seed; ends with 1 when an invariant broke, and says how to play it again.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '1' },
    also: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const also = values.also.split(',').filter(Boolean).map(Number);
const count = also.length + Number(values.count);
const lanes = Math.min(Number(values.lanes), count);

const say = (text: string) => process.stdout.write(`${text}\n`);

function tell({ seed, status, ms, ends, faults }: Played): void {
  const lines = [
    `seed ${seed}: ${status}, ${ms} ms${faults.length === 0 ? '' : `, BROKEN`}`,
    ...Object.entries(ends).map(([end, times]) => `  ${times} ${end}`),
    ...faults.map((fault) => `  ${fault}`),
  ];
  say(lines.join('\n'));
}

const sceneOf = (seed: number) => ({
  schedule: scheduleOf(seed),
  random: randomOf(seed + 1),
  isStormy: true,
});

/** Plays seeds one after the other on a stack of their own; answers those that broke. */
async function playAll(seeds: Iterator<number, void>): Promise<number[]> {
  let scene = sceneOf(first);
  const model = await startChaosModel(() => scene);
  const stack = await openChaosStack(model.url);
  const broken: number[] = [];
  for (let next = seeds.next(); !next.done; next = seeds.next()) {
    scene = sceneOf(next.value);
    if (values.verbose) say(JSON.stringify(scene.schedule));
    const played = await play(stack, scene.schedule, scene);
    // Tools that are not offered are called on purpose.
    played.faults.push(...model.takeViolations().filter((line) => !line.endsWith('is not offered')));
    tell(played);
    if (played.faults.length > 0) broken.push(next.value);
    model.requests.length = 0;
  }
  await stack[Symbol.asyncDispose]();
  await model.stop();
  return broken;
}

function* allSeeds(): Generator<number, void> {
  yield* also;
  for (let seed = first; seed < first + count - also.length; seed++) yield seed;
}

const begun = performance.now();
const seeds = allSeeds();
const broken = (await Promise.all(Array.from({ length: lanes }, () => playAll(seeds)))).flat();
say(`${count - broken.length} of ${count} seeds held, ${Math.round((performance.now() - begun) / 1000)} s`);
if (broken.length > 0) {
  say(`play again with: npm run chaos -- --verbose --seed ${broken[0]}`);
  process.exitCode = 1;
}
