import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openBoards } from '@crewboard/board';
import { Redis } from 'ioredis';
import { benchJob, idsOf, inLanes, median, report, work } from './support.ts';

/**
 * How long a transition takes on the embedded server, which stands in where there is no Redis: claim and submit on a
 * board of so many tasks, one caller (each transition waits for the one before) and eight.
 * Arguments: tasks (1000), rounds (7).
 */
const TASKS = Number(process.argv[2] ?? 1000);
const ROUNDS = Number(process.argv[3] ?? 7);
const A_ROUND = Math.min(50, Math.floor(TASKS / ROUNDS));
const CALLERS = [1, 8];

const child = fork(fileURLToPath(new URL('./claimers/embedded-server.ts', import.meta.url)));
const [url] = await once(child, 'message');
const redis = new Redis(String(url));
const boards = openBoards(redis, '{bench}');
/** Takes off the outbox what is there, as a worker does after each transition. */
async function handOn(jobId: string): Promise<void> {
  const entries = await boards.readOutbox(jobId, 1000);
  await boards.removeFromOutbox(
    jobId,
    entries.map(({ id }) => id),
  );
}

try {
  const tasks = Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i}` }));
  for (const callers of CALLERS) {
    const jobId = await benchJob(boards, tasks, callers);
    const ids = await idsOf(redis, boards, jobId);
    const rounds: number[] = [];
    for (let from = 0; from < ROUNDS * A_ROUND; from += A_ROUND) {
      const step = (i: number) => work(boards, jobId, ids[i] ?? '');
      const seconds = await inLanes(from, from + A_ROUND, callers, step);
      rounds.push((seconds * 1000) / (A_ROUND * 2));
      await handOn(jobId);
    }
    const target = callers === 1 ? '<= 6' : '(none)';
    report(
      `a transition on the embedded server, ${TASKS} tasks, ${callers} callers, ms`,
      median(rounds),
      target,
      rounds,
    );
  }
} finally {
  redis.disconnect();
  child.disconnect();
}
