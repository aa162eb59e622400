import { crewboardBoards } from './claimers/crewboard.ts';
import { runDesign } from './claimers/design.ts';
import { jsonDocuments } from './claimers/json-document.ts';
import { median, openBench, report } from './support.ts';

/**
 * Claims and submits a second against one JSON document under WATCH / MULTI / EXEC, 32 writers with a connection each,
 * alternating rounds bounded by time; both sides are checked for lost updates after each board.
 * Arguments: rounds (5), longest back-off of the other side after a conflict in ms (0: it tries again at once).
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const BACK_OFF_MS = Number(process.argv[3] ?? 0);
const WRITERS = 32;
const OURS_MS = 1000;

const bench = await openBench();
const ours = crewboardBoards(bench.redis, WRITERS);
const theirs = jsonDocuments(bench.redis, WRITERS, BACK_OFF_MS);
try {
  for (const { tasks, theirsMs, target } of [
    { tasks: 100, theirsMs: 1500, target: '>= 150' },
    { tasks: 1000, theirsMs: 4000, target: '>= 900' },
    // A document of 5 MB: a commit takes seconds.
    { tasks: 10_000, theirsMs: 20_000, target: '>= 5000' },
  ]) {
    const ratios: number[] = [];
    const each: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const slow = await runDesign(theirs, tasks, WRITERS, theirsMs);
      const fast = await runDesign(ours, tasks, WRITERS, OURS_MS);
      const perSecond = (run: typeof slow) => run.transitions / run.seconds;
      ratios.push(perSecond(fast) / perSecond(slow));
      each.push(
        `${perSecond(fast).toFixed(0)}/s over ${perSecond(slow).toFixed(2)}/s (${slow.transitions} in all)`,
      );
    }
    report(`${ours.name} over ${theirs.name}, ${tasks} tasks`, median(ratios), target, ratios);
    process.stdout.write(`  ${each.join('; ')}\n`);
  }
} finally {
  ours.close();
  theirs.close();
  await bench.close();
}
