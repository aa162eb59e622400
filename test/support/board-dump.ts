import { readFile } from 'node:fs/promises';
import { type Boards, openBoards } from '@crewboard/board';
import { z } from 'zod';
import { openTestRedis, type TestRedis } from './redis.ts';

/**
 * A board as the commands that write it: name of the key below the board's, command, arguments. Arguments are base64,
 * for records are binary; so the dump is the same on every Redis.
 */
const BoardDump = z.strictObject({
  jobId: z.string(),
  commands: z.array(z.tuple([z.string(), z.string(), z.array(z.string())])),
});
export type BoardDump = z.infer<typeof BoardDump>;

const base64 = (value: Buffer | string) => Buffer.from(value).toString('base64');

async function commandsOf({ redis }: TestRedis, name: string, key: string): Promise<BoardDump['commands']> {
  const type = await redis.type(key);
  if (type === 'hash') {
    const fields = await redis.hgetallBuffer(key);
    return Object.entries(fields)
      .sort()
      .map(([field, value]) => [name, 'HSET', [base64(field), base64(value)]]);
  }
  if (type === 'zset') {
    const pairs = await redis.zrange(key, '0', '-1', 'WITHSCORES');
    return pairs.flatMap((member, i) =>
      i % 2 === 0 ? [[name, 'ZADD', [base64(pairs[i + 1] ?? ''), base64(member)]]] : [],
    );
  }
  if (type === 'stream') {
    const entries = await redis.xrange(key, '-', '+');
    return entries.map(([id, fields]) => [name, 'XADD', [id, ...fields].map(base64)]);
  }
  if (type === 'list')
    return (await redis.lrange(key, '0', '-1')).map((value) => [name, 'RPUSH', [base64(value)]]);
  return [[name, 'SET', [base64((await redis.getBuffer(key)) ?? '')]]];
}

/** Reads every key of a board, its journals too. */
export async function dumpBoard(store: TestRedis, boards: Boards, jobId: string): Promise<BoardDump> {
  const prefix = boards.keys.board(jobId, 'hot').slice(0, -'hot'.length);
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await store.redis.scan(cursor, 'MATCH', `*${jobId}*`, 'COUNT', 1000);
    for (const key of keys) if (key.startsWith(prefix)) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  const commands = [];
  for (const key of [...found].sort())
    commands.push(...(await commandsOf(store, key.slice(prefix.length), key)));
  return { jobId, commands };
}

/** A board that was read from a dump. */
export interface LoadedBoard extends AsyncDisposable {
  store: TestRedis;
  boards: Boards;
  jobId: string;
}

/** Writes a dump below a prefix of its own. */
export async function loadBoard(dump: BoardDump): Promise<LoadedBoard> {
  const store = openTestRedis();
  const boards = openBoards(store.redis, store.prefix);
  const prefix = boards.keys.board(dump.jobId, 'hot').slice(0, -'hot'.length);
  for (const [name, command, args] of dump.commands) {
    const values = args.map((value) => Buffer.from(value, 'base64'));
    await store.redis.call(command, [`${prefix}${name}`, ...values]);
  }
  await boards.index.addLive(dump.jobId);
  return {
    store,
    boards,
    jobId: dump.jobId,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Loads a dump of test/fixtures. */
export async function loadFixture(name: string): Promise<LoadedBoard> {
  const file = new URL(`../fixtures/${name}`, import.meta.url);
  return loadBoard(BoardDump.parse(JSON.parse(await readFile(file, 'utf8'))));
}
