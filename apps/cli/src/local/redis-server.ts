import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { endOf, stopChild } from './child.ts';
import { readState, writeState } from './data-folder.ts';
import { type LogFile, readableLogLine } from './log-file.ts';
import { freePort, isPortFree } from './ports.ts';
import { adoptLeftOver, LOADS_WITHIN_MS, type RedisServer } from './redis-left-over.ts';
import { checkVersion, probeRedis, refuseEviction, shutDownRedis } from './redis-probe.ts';
import { localUrl, RedisState } from './redis-state.ts';
import { endWithThisProcess } from './redis-watch.ts';
import { endsInTime } from './running.ts';

export interface RedisServerOptions {
  /** Where it keeps its append-only file; at most one server ever runs on it. */
  dir: string;
  log: LogFile;
  /** The PATH to look for the programs in; absent: that of this process. */
  path?: string | undefined;
}

const PROGRAMS = ['redis-server', 'valkey-server'];

/** The server's configuration file; values are quoted as Redis reads them. */
function configuration(state: Required<RedisState>, dir: string): string {
  const settings: Record<string, string> = {
    port: String(state.port),
    bind: '127.0.0.1',
    requirepass: state.password,
    dir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${quoted(value)}\n`)
    .join('');
}

/** Starts the program with its configuration on stdin: a command line, which everybody sees, would tell the password. */
function launch(program: string, state: Required<RedisState>, options: RedisServerOptions): ChildProcess {
  const child = spawn(program, ['-'], {
    ...(options.path === undefined ? {} : { env: { PATH: options.path } }),
    stdio: ['pipe', 'pipe', 'pipe'],
    // Out of the terminal's process group: Ctrl-C must end Redis last, not first.
    detached: true,
  });
  // A program that ends before it has read it all is told by its own end.
  child.stdin.on('error', () => {});
  child.stdin.end(configuration(state, options.dir));
  child.stdout.on('data', options.log.write);
  child.stderr.on('data', options.log.write);
  return child;
}

/** Resolves to the child, or to undefined when there is no such program on PATH. */
function spawned(child: ChildProcess): Promise<ChildProcess | undefined> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child));
    child.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    );
  });
}

async function startNew(
  program: string,
  state: Required<RedisState>,
  options: RedisServerOptions,
  signal: AbortSignal,
): Promise<RedisServer | undefined> {
  const launched = launch(program, state, options);
  const ended = endOf(launched, options.log);
  const child = await spawned(launched);
  if (child?.pid === undefined) return undefined;
  ended.then(await endWithThisProcess(child.pid, options.dir));
  const url = localUrl(state.port, state.password);
  const giveUp = new AbortController();
  ended.then(() => giveUp.abort());
  try {
    const either = AbortSignal.any([signal, giveUp.signal]);
    const facts = await probeRedis(url, { withinMs: LOADS_WITHIN_MS, waitForLoading: true, signal: either });
    checkVersion(facts, program);
    refuseEviction(facts);
    return {
      pid: child.pid,
      url,
      version: facts.version,
      adopted: false,
      ended,
      async stop(how) {
        await shutDownRedis(url);
        if (!(await endsInTime(ended, how))) await stopChild(child, ended, { graceMs: 1000 });
      },
    };
  } catch (error) {
    await stopChild(child, ended, { graceMs: 5000 });
    if (error instanceof CrewboardError || !giveUp.signal.aborted) throw error;
    const end = await ended;
    const said = end.lastLines.slice(-2).map(readableLogLine).join(' | ');
    throw new CrewboardError(
      'unavailable',
      `${program} did not start (${end.reason}): ${said}`,
      {},
      { cause: error },
    );
  }
}

/**
 * Starts redis-server (or valkey-server) from PATH on 127.0.0.1 with its append-only file in `dir`, or takes over
 * the one that a killed supervisor left on that folder. Returns undefined when neither program is installed.
 *
 * Two servers on one folder would destroy each other's file. So the port is recorded in `redis.json` before the
 * first start and kept: a server left over has it, is found by it and known by its `CONFIG GET dir`; and one that
 * does not listen yet makes the second fail on the taken port, before it opens the file.
 */
export async function startRedisServer(
  options: RedisServerOptions,
  signal: AbortSignal,
): Promise<RedisServer | undefined> {
  const dir = await realpath(options.dir);
  const stateFile = join(dir, 'redis.json');
  const kept = await readState(stateFile, RedisState);
  const password = kept?.password ?? newSecret();
  if (kept !== undefined) {
    // First, for a server whose password nobody knows could be neither taken over nor stopped.
    await writeState(stateFile, { ...kept, password });
    const leftOver = await adoptLeftOver(kept, password, dir, options.log, signal);
    if (leftOver !== undefined) return leftOver;
  }
  const port = kept !== undefined && (await isPortFree(kept.port)) ? kept.port : await freePort();
  const state = { port, password };
  await writeState(stateFile, state);
  for (const program of PROGRAMS) {
    const server = await startNew(program, state, { ...options, dir }, signal);
    if (server !== undefined) return server;
  }
  return undefined;
}
