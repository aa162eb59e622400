import { ADD_MOST, type Boards, type Hold } from '@crewboard/board';
import { newSecret } from '@crewboard/contracts';
import { composeCore } from '@crewboard/orchestrator';
import { Worker } from 'bullmq';
import { type RedisProcess, startRedisProcess } from '../test/support/redis-process.ts';
import { closeAll, connect, IN_FLIGHT, SETTINGS, silent } from './queue-run.ts';
import { BENCH, benchJob, report } from './support.ts';

/**
 * Kills Redis (-9) in the middle of a job of no-op tasks and starts it again at once over its append-only file
 * (`appendfsync everysec`): seconds from the kill until the next transition is acknowledged, and until 200 tasks more are
 * completed; then looks for every transition that was acknowledged before, and for any that happened twice.
 * `node --conditions=@crewboard/source --import tsx bench/redis-restart.ts`; arguments: tasks (100000), rounds (3)
 */
const TASKS = Number(process.argv[2] ?? 100_000);
const ROUNDS = Number(process.argv[3] ?? 3);
const KILL_AFTER = 2000;
const GOES_ON = 200;
const LEASE_MS = 30_000;

/** What was acknowledged, with its time; tasks stand under their IDs. */
function createLedger() {
  const claimed = new Map<string, Hold>();
  const completed = new Set<string>();
  const waiting = new Set<{ isMet: () => boolean; resolve: () => void }>();
  let acknowledged = 0;
  function note(): void {
    acknowledged += 1;
    for (const waiter of waiting) {
      if (!waiter.isMet()) continue;
      waiting.delete(waiter);
      waiter.resolve();
    }
  }
  const until = (isMet: () => boolean) => new Promise<void>((resolve) => waiting.add({ isMet, resolve }));
  return {
    claimed,
    completed,
    claim(hold: Hold): void {
      claimed.set(hold.taskId, hold);
      note();
    },
    complete({ taskId }: Hold): void {
      completed.add(taskId);
      note();
    },
    untilCompleted: (count: number) => until(() => completed.size >= count),
    untilNext() {
      const before = acknowledged;
      return until(() => acknowledged > before);
    },
  };
}

type Ledger = ReturnType<typeof createLedger>;

/** Claims a task and submits it at once; a delivery that has lost its task, as after a repeat, is dropped. */
async function workOn(boards: Boards, ledger: Ledger, jobId: string, taskId: string, attempt: number) {
  const claimed = await boards.claim(jobId, {
    taskId,
    owner: { kind: 'sub-agent', id: 'bench' },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs: LEASE_MS,
    expectedAttempt: attempt,
  });
  if (claimed === undefined) return;
  const hold = { jobId, taskId, token: claimed.token };
  ledger.claim(hold);
  await boards.submit(hold, 's', claimed.task.version, { summary: 'done', artifacts: [], evidence: [] });
  ledger.complete(hold);
}

/** Throws when the board has not all that was acknowledged, or has something twice. */
async function compare(boards: Boards, jobId: string, { claimed, completed }: Ledger): Promise<void> {
  const ids = [...claimed.keys()];
  for (let from = 0; from < ids.length; from += 100) {
    for (const task of await boards.readTasks(jobId, ids.slice(from, from + 100), false)) {
      if (task === undefined) throw new Error('an acknowledged claim is lost: its task is not there');
      if (task.attempt !== 1) throw new Error(`${task.id} was claimed ${task.attempt} times`);
      if (completed.has(task.id) && task.status !== 'completed')
        throw new Error(`an acknowledged submit is lost: ${task.id} is ${task.status}`);
    }
  }
  const { counts } = await boards.job(jobId);
  if (counts.completed < completed.size || counts.total !== TASKS)
    throw new Error(`${completed.size} submits were acknowledged: ${JSON.stringify(counts)}`);
  const { remaining } = await boards.examine(jobId);
  if (remaining > 0) throw new Error(`the doctor finds ${remaining} faults`);
}

/** One job, one kill. Answers seconds from the kill, and what was acknowledged before it. */
async function killOnce(server: RedisProcess) {
  const connections = { redis: connect(server.url), queue: connect(server.url), worker: connect(server.url) };
  for (const connection of Object.values(connections)) connection.on('error', () => {});
  const core = composeCore({
    redis: connections.redis,
    queueConnection: connections.queue,
    settings: SETTINGS,
    log: silent,
  });
  const ledger = createLedger();
  const plan = Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i}` }));
  const jobId = await benchJob(core.boards, plan.slice(0, ADD_MOST), IN_FLIGHT);
  await core.boards.index.addLive(jobId);
  for (let from = ADD_MOST; from < TASKS; from += ADD_MOST)
    await core.boards.add(jobId, {
      by: BENCH,
      maxAttempts: 3,
      tasks: plan.slice(from, from + ADD_MOST),
    });
  const worker = new Worker(
    'crewboard.tasks',
    ({ data }) => workOn(core.boards, ledger, data.jobId, data.taskId, data.attempt),
    {
      connection: connections.worker,
      prefix: SETTINGS.prefix,
      concurrency: IN_FLIGHT,
      removeOnComplete: { count: 0 },
    },
  );
  worker.on('error', () => {});
  await ledger.untilCompleted(KILL_AFTER);
  const killed = server.kill();
  const killedAt = performance.now();
  const seconds = () => (performance.now() - killedAt) / 1000;
  await killed;
  // What the sockets still held was acknowledged as well.
  await new Promise((resolve) => setImmediate(resolve));
  const acknowledged = ledger.claimed.size + ledger.completed.size;
  const next = ledger.untilNext().then(seconds);
  const goesOn = ledger.untilCompleted(ledger.completed.size + GOES_ON).then(seconds);
  await server.start();
  const figures = { loaded: seconds(), next: await next, goesOn: await goesOn, acknowledged };
  await worker.pause();
  await compare(core.boards, jobId, ledger);
  await closeAll([worker, core], Object.values(connections));
  return figures;
}

const rounds: Awaited<ReturnType<typeof killOnce>>[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await using server = await startRedisProcess(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  rounds.push(await killOnce(server));
}
const print = (what: string, target: string, of: (figures: (typeof rounds)[number]) => number) => {
  const figures = rounds.map(of);
  report(what, Math.max(...figures), target, figures);
};
print(
  `seconds until progress after Redis was killed, ${TASKS} tasks`,
  '<= 3, the longest',
  ({ next }) => next,
);
print(`  and until ${GOES_ON} tasks more were completed`, 'none', ({ goesOn }) => goesOn);
print('  of which until Redis had read its file again', 'none', ({ loaded }) => loaded);
print(
  'acknowledged transitions before the kill, none lost, none twice',
  'all there',
  ({ acknowledged }) => acknowledged,
);
