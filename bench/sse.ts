import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newSecret } from '@crewboard/contracts';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { startTestRedis } from '../test/support/redis-server.ts';
import { API_KEY, openStack, type Stack } from '../test/support/stack.ts';
import type { ReadersOrder } from './sse-readers.ts';
import { median, report } from './support.ts';

/**
 * From a change of the board to the clients of its event stream, over loopback: notes at a steady pace, 50 readers of
 * which one never reads, an API process of its own. A delay runs from before the call that writes the note to when a
 * reader has parsed the event, so the script is part of it. Percentiles over all readers that read.
 * `npm run bench:sse`; arguments: rounds (5), events a second (100), readers (50)
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const PER_SECOND = Number(process.argv[3] ?? 100);
const READERS = Number(process.argv[4] ?? 50);
const SECONDS = 10;
const NOTES = PER_SECOND * SECONDS;

const Delays = z.array(z.array(z.number()));
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** A task that this process holds, and the events so far. */
async function heldTask({ client }: Stack) {
  const { id: jobId } = await client.jobs.submit({ tasks: [{ title: 'Held', executor: 'external' }] });
  const claim = await client.tasks.claim(jobId, { owner: 'bench', leaseMs: 3_600_000 });
  if (claim.task === null) throw new Error('there is nothing to claim');
  const { asOf = '0-0' } = await client.tasks.list(jobId);
  return { hold: { jobId, taskId: claim.task.id, token: claim.claimToken }, after: asOf };
}

/** One round: all delays in ms but those of the first second, sorted. */
async function round(stack: Stack): Promise<number[]> {
  const { hold, after } = await heldTask(stack);
  const readers = fork(fileURLToPath(new URL('./sse-readers.ts', import.meta.url)));
  const answered = once(readers, 'message');
  const notes = NOTES + PER_SECOND;
  const order = { url: stack.url, apiKey: API_KEY, jobId: hold.jobId, after, readers: READERS - 1, notes };
  readers.send(order satisfies ReadersOrder);
  const startedAt = performance.now();
  for (let i = 0; i < notes; i++) {
    await wait(Math.max(0, startedAt + (i * 1000) / PER_SECOND - performance.now()));
    await stack.boards.note(hold, newSecret(), String(nowMs()));
  }
  const [message] = await answered;
  return Delays.parse(message)
    .flatMap((each) => each.slice(PER_SECOND))
    .sort((a, b) => a - b);
}

async function measure(stack: Stack): Promise<void> {
  const rounds: number[][] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await round(stack));
  const part = (share: number) => rounds.map((sorted) => sorted[Math.floor(sorted.length * share)] ?? 0);
  const what = `ms from a note to ${READERS - 1} readers beside one that never reads, ${PER_SECOND} a second`;
  report(`${what}: p50`, median(part(0.5)), 'none', part(0.5));
  report('  p95', median(part(0.95)), '<= 5', part(0.95));
  report('  p99', median(part(0.99)), 'none', part(0.99));
}

const server = await startTestRedis();
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
const disconnect = async () => redis.disconnect();
const store = { redis, url: server.url, prefix: '{sse}', [Symbol.asyncDispose]: disconnect };
try {
  await using stack = await openStack({ store });
  await measure(stack);
} finally {
  await server.stop();
}
