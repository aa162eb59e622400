import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Cluster, Redis } from 'ioredis';
import { freePort } from './redis-server.ts';

const run = promisify(execFile);

/** A redis-server of a test's own, to be stopped, filled and restarted at will. */
export interface RedisProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder. */
  start(): Promise<void>;
}

/** True when there is a redis-server on PATH; these tests mean nothing on the embedded one. */
export async function hasRedisServer(): Promise<boolean> {
  return run('redis-server', ['--version']).then(
    () => true,
    () => false,
  );
}

async function untilReady(port: number): Promise<void> {
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: 500 });
  redis.on('error', () => {});
  await redis.ping().finally(() => redis.disconnect());
}

/** Starts a redis-server with append-only file; `args` are added to its command line. */
export async function startRedisProcess(args: readonly string[] = []): Promise<RedisProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'crewboard-redis-'));
  const port = await freePort();
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''];
  let child: ChildProcess;
  const start = async () => {
    child = spawn('redis-server', [...fixed, '--maxmemory-policy', 'noeviction', ...args], {
      stdio: 'ignore',
    });
    await untilReady(port);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A cluster of three masters, and a client of it. */
export async function startRedisCluster(): Promise<{ cluster: Cluster } & AsyncDisposable> {
  const nodes = await Promise.all(
    [1, 2, 3].map((n) =>
      startRedisProcess(['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${n}.conf`]),
    ),
  );
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  const cluster = new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  const isUp = async () => String(await cluster.cluster('INFO')).includes('cluster_state:ok');
  for (let tries = 0; tries < 200 && !(await isUp().catch(() => false)); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    cluster,
    async [Symbol.asyncDispose]() {
      cluster.disconnect();
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}
