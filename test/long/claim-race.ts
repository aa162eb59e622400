import { Redis } from 'ioredis';
import { boardFixtureOn } from '../support/board.ts';
import { claimersOf, ROUND_KINDS, runRound } from '../support/claim-rounds.ts';
import { startClaimers } from '../support/claimer-process.ts';
import { startTestRedis } from '../support/redis-server.ts';

/**
 * Claimers of 2, 8, 32 and 64 connections in up to 16 real processes race for tasks, 1,000 rounds in all: exactly one
 * may win each, and nothing may be claimed that was not ready. Argument: rounds in all (1000).
 */
const ROUNDS = Number(process.argv[2] ?? 1000);
const COUNTS = [2, 8, 32, 64];
const PROCESSES = 16;
const PREFIX = '{claim-race}';

const server = await startTestRedis();
if (server.kind !== 'server') throw new Error('this race needs a redis-server on PATH');
const redis = new Redis(server.url);
const fixture = boardFixtureOn(redis, PREFIX);
try {
  await using claimers = await startClaimers({ url: server.url, prefix: PREFIX }, PROCESSES, 4);
  const started = [...claimers.processes];
  for (const count of COUNTS) {
    const rounds = Math.ceil(ROUNDS / COUNTS.length);
    const startedAt = performance.now();
    const refused: Record<string, number> = {};
    for (let round = 0; round < rounds; round++) {
      started.push(...started.splice(0, 1));
      const kind = ROUND_KINDS[round % ROUND_KINDS.length] ?? 'ready';
      const used = started.slice(0, Math.min(count, PROCESSES));
      const refusals = await runRound(fixture, kind, claimersOf(used, count));
      for (const [code, times] of Object.entries(refusals)) refused[code] = (refused[code] ?? 0) + times;
    }
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(
      `${count} claimers in ${Math.min(count, PROCESSES)} processes: ${rounds} rounds, one winner each, in ${seconds} s; refused: ${JSON.stringify(refused)}\n`,
    );
  }
} finally {
  redis.disconnect();
  await server.stop();
}
