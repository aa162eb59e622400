import { connect, createServer, type Socket } from 'node:net';
import { throughWire } from './through-wire.ts';

/** Where on the wire a worker is to stop. */
export interface Freeze {
  /** Words of a command, in the wire's own form: arguments stand between line ends. */
  words: RegExp;
  /** Which of the commands with these words, from 1. */
  nth?: number;
  /**
   * `before`: Redis never sees the command, nor any later one. `after`: Redis carries it out, but the worker is not
   * told, and hears nothing more.
   */
  when: 'before' | 'after';
}

/** The way from one worker to Redis, which a test can cut at an exact command. */
export interface RedisWire extends AsyncDisposable {
  url: string;
  /** Freezes the wire at the command; resolves when that has happened. */
  freezeAt(freeze: Freeze): Promise<void>;
  /** Resolves when Redis has carried out all it was sent and every connection is over. */
  over(): Promise<void>;
}

/** A command may come in pieces: this much of the earlier ones is looked at again. */
const TAIL_CHARACTERS = 65_536;

/** Counts the commands with the words in the pieces of one connection. */
function createTrap({ words, nth = 1, when }: Freeze, sprung: () => void) {
  const all = new RegExp(words.source, 'g');
  const tails = new WeakMap<Socket, string>();
  let seen = 0;
  return {
    when,
    isSprung: () => seen >= nth,
    look(from: Socket, piece: Buffer): void {
      const tail = tails.get(from) ?? '';
      const text = tail + piece.toString('latin1');
      for (const match of text.matchAll(all)) if (match.index + match[0].length > tail.length) seen++;
      tails.set(from, text.slice(-TAIL_CHARACTERS));
      if (seen >= nth) sprung();
    },
  };
}

/** Opens a way to the Redis at `redisUrl`; disposing cuts all connections. */
export async function openRedisWire(redisUrl: string): Promise<RedisWire> {
  const { hostname, port } = new URL(redisUrl);
  let trap: ReturnType<typeof createTrap> | undefined;
  const open = new Set<Socket>();
  const over = new Set<Promise<void>>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    far.setNoDelay(true);
    near.setNoDelay(true);
    open.add(near);
    over.add(new Promise((resolve) => far.once('close', () => resolve())));
    near.on('data', (piece) => {
      if (trap !== undefined && !trap.isSprung()) trap.look(near, piece);
      if (trap?.when !== 'before' || !trap.isSprung()) far.write(piece);
    });
    far.on('data', (piece) => {
      if (trap === undefined || !trap.isSprung()) near.write(piece);
    });
    // What was sent before the worker died is carried out: Redis reads to the end.
    near.once('close', () => far.end());
    far.once('close', () => near.destroy());
    near.on('error', () => {});
    far.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: throughWire(redisUrl, address.port),
    freezeAt: (freeze) =>
      new Promise((resolve) => {
        trap = createTrap(freeze, resolve);
      }),
    over: async () => void (await Promise.all(over)),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
