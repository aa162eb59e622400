import { startTestRedis } from '../test/support/redis-server.ts';
import { boardRun, flowRun, rawRun } from './queue-run.ts';
import { median, report } from './support.ts';

/**
 * A fan of no-op tasks through board, outbox and queue, over as many no-op jobs of BullMQ alone, and over a flow of as
 * many children of one parent; alternating rounds. Arguments: tasks (1,000 and 10,000), rounds (5).
 */
const ROUNDS = Number(process.argv[3] ?? 5);
const counts = process.argv[2] === undefined ? [1000, 10_000] : [Number(process.argv[2])];

const server = await startTestRedis();
await rawRun(server.url, 1000);
for (const count of counts) {
  const tasks = Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));
  const overRaw: number[] = [];
  const overFlow: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await boardRun(server.url, tasks);
    overRaw.push(ours / (await rawRun(server.url, count)));
    overFlow.push(ours / (await flowRun(server.url, count)));
  }
  report(`fan of ${count} no-op tasks over raw BullMQ`, median(overRaw), '<= 1.4', overRaw);
  report(`fan of ${count} no-op tasks over a BullMQ flow`, median(overFlow), '(none)', overFlow);
}
await server.stop();
