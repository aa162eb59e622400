import { Socket } from 'node:net';

export interface LoopbackOnly extends Disposable {
  /** Each `host:port` or path that this process has connected to since. */
  readonly targets: ReadonlySet<string>;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

function targetOf(args: readonly unknown[]): { host: string; port: unknown } {
  // net.connect hands on its arguments as one list: [options, callback].
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const options: object = typeof first === 'object' && first !== null ? first : { port: first, host: second };
  const host = 'host' in options && typeof options.host === 'string' ? options.host : 'localhost';
  return { host, port: 'port' in options ? options.port : 'path' in options ? options.path : undefined };
}

/**
 * Makes every connection of this process that would leave the loopback interface fail, until disposed, and notes
 * all of them. Sockets are below every HTTP client, so none gets around it.
 */
export function allowLoopbackOnly(): LoopbackOnly {
  const targets = new Set<string>();
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function connectOnLoopback(this: Socket, ...args: unknown[]): Socket {
    const { host, port } = targetOf(args);
    targets.add(`${host}:${port}`);
    if (!LOOPBACK.has(host)) {
      process.nextTick(() =>
        this.destroy(new Error(`a connection to ${host}:${port} was refused by the test`)),
      );
      return this;
    }
    return Reflect.apply(connect, this, args);
  };
  return {
    targets,
    [Symbol.dispose]() {
      Socket.prototype.connect = connect;
    },
  };
}
