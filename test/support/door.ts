import { connect, createServer, type Server, type Socket } from 'node:net';

/** The way to a server of the tests, at an address of its own, which can be shut: connections are refused then. */
export interface Door extends AsyncDisposable {
  url: string;
  /** Cuts every connection and lets nobody in. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Opens a door before the server at `url`, an HTTP address of this machine. */
export async function openDoor(url: string): Promise<Door> {
  const { hostname, port: behind } = new URL(url);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  function pass(near: Socket): void {
    const far = connect(Number(behind), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true).pipe(to);
      from.on('error', () => {});
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }
  const door: Door = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    async open() {
      const opened = createServer(pass);
      server = opened;
      await new Promise<void>((resolve) => opened.listen(port, '127.0.0.1', resolve));
      const address = opened.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      port = address.port;
    },
    async shut() {
      const closed = new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    [Symbol.asyncDispose]: () => door.shut(),
  };
  await door.open();
  return door;
}
