import { connect, createServer, type Socket } from 'node:net';
import { throughWire } from './through-wire.ts';

/**
 * The way to a Redis that can die without a word, as when a machine loses its power or a firewall forgets a connection:
 * bytes stop in both directions, and no socket is closed.
 */
export interface SilentWire extends AsyncDisposable {
  url: string;
  /** How many connections were opened through it so far. */
  readonly opened: number;
  /**
   * From now on nothing more is carried on the connections that are open. New ones: `pass` works, `silence` are
   * accepted and carry nothing either, until `mend`.
   */
  freeze(newOnes: 'pass' | 'silence'): void;
  /** New connections work again; those that were frozen stay dead. */
  mend(): void;
}

/** One connection through the wire. */
interface Pair {
  near: Socket;
  far: Socket;
  freeze(): void;
}

function joinSockets(near: Socket, host: string, port: number): Pair {
  const far = connect({ port, host, allowHalfOpen: true });
  let frozen = false;
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.setNoDelay(true);
    from.on('data', (piece) => {
      if (!frozen) to.write(piece);
    });
    from.on('end', () => {
      if (!frozen) to.end();
    });
    from.on('close', () => {
      if (!frozen) to.destroy();
    });
    from.on('error', () => {});
  }
  return {
    near,
    far,
    freeze() {
      frozen = true;
      near.pause();
    },
  };
}

/** Opens a way to the Redis at `redisUrl`; disposing cuts every connection. */
export async function openSilentWire(redisUrl: string): Promise<SilentWire> {
  const { hostname, port } = new URL(redisUrl);
  const pairs: Pair[] = [];
  let isSilent = false;
  // Half open: whoever ends a frozen connection is not answered.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const pair = joinSockets(near, hostname, Number(port));
    pairs.push(pair);
    if (isSilent) pair.freeze();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: throughWire(redisUrl, address.port),
    get opened() {
      return pairs.length;
    },
    freeze(newOnes) {
      isSilent = newOnes === 'silence';
      for (const pair of pairs) pair.freeze();
    },
    mend() {
      isSilent = false;
    },
    async [Symbol.asyncDispose]() {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
