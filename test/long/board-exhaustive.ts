import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { explore } from '../board/model/explore.ts';
import { outsiders, workers } from '../board/model/games.ts';
import { checkCanComplete, checkStep, checkWayOn } from '../board/model/invariants.ts';
import { replay, samplePaths } from '../board/model/replay.ts';
import { openBench } from '../board/model/run.ts';
import { startTestRedis } from '../support/redis-server.ts';

/**
 * All interleavings of two holders and a person over two tasks, explored on the model with its invariants, and a sample
 * of them carried out in Redis, compared after each step.
 * `node --conditions=@crewboard/source --import tsx test/long/board-exhaustive.ts --depth 7 --replays 2000`
 */

const { values } = parseArgs({
  options: { depth: { type: 'string', default: '7' }, replays: { type: 'string', default: '1000' } },
});
const depth = Number(values.depth);
const replays = Number(values.replays);
const REFUSED_AT_THE_END = 5;
const FLUSH_EVERY = 100;

const say = (text: string) => process.stdout.write(`${text}\n`);
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

const server = await startTestRedis();
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
const bench = openBench(redis, '{model}');
for (const game of [outsiders('hold'), outsiders('cancel'), workers('hold'), workers('cancel')]) {
  const started = performance.now();
  say(`${game.name}. ${game.moves.length} moves: ${game.moves.map((move) => move.name).join('; ')}`);
  const explored = explore(game, depth, (before, call, answer, after) =>
    checkStep(before.board, call, answer, after.board),
  );
  const states = explored.layers.map((layer) => layer.length);
  say(
    `up to ${depth} moves: ${explored.sequences} sequences, ` +
      `${states.reduce((a, b) => a + b, 0)} distinct states (by depth ${states.join(', ')}), ` +
      `${explored.transitions} transitions, ${seconds(started)}`,
  );
  for (const { state } of explored.layers.flat()) {
    checkWayOn(game, state);
    checkCanComplete(game, state);
  }
  say(`every invariant holds, every state has a way on and to completion, ${seconds(started)}`);
  let calls = 0;
  const paths = samplePaths(explored, replays);
  for (const [i, path] of paths.entries()) {
    calls += await replay(bench, game, path, REFUSED_AT_THE_END);
    if (i % FLUSH_EVERY === 0) await redis.flushall();
  }
  say(`${paths.length} paths with ${calls} calls went the same way in Redis, ${seconds(started)}`);
}
redis.disconnect();
await server.stop();
