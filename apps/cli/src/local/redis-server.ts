import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CrewboardError } from '@crewboard/contracts';
import { z } from 'zod';
import { endOf, stopChild } from './child.ts';
import { readState, writeState } from './data-folder.ts';
import { type LogFile, readableLogLine } from './log-file.ts';
import { freePort, isPortFree } from './ports.ts';
import { exists } from './process-identity.ts';
import { checkVersion, mayEvict, probeRedis, type RedisFacts, shutDownRedis } from './redis-probe.ts';
import { endsInTime, type ProcessEnd, type Running } from './running.ts';

/** A redis-server that keeps the data folder's data. */
export interface RedisServer extends Running {
  url: string;
  version: string | undefined;
  /** True when it was left over by a supervisor that was killed. */
  adopted: boolean;
}

export interface RedisServerOptions {
  /** Where it keeps its append-only file; at most one server ever runs on it. */
  dir: string;
  log: LogFile;
  /** The PATH to look for the programs in; absent: that of this process. */
  path?: string | undefined;
}

/** Written before the server starts, so that it is found again whenever this process dies. */
const RedisState = z.strictObject({ port: z.number().int().min(1).max(65_535) });
const PROGRAMS = ['redis-server', 'valkey-server'];
/** Reading a large append-only file takes its time. */
const LOADS_WITHIN_MS = 120_000;
const LEFT_OVER_ANSWERS_WITHIN_MS = 10_000;
const POLL_MS = 500;

const urlOf = (port: number) => `redis://127.0.0.1:${port}`;

/** Resolves when the process `pid`, which is no child of ours, is gone. */
async function goneEventually(pid: number, log: LogFile): Promise<ProcessEnd> {
  while (exists(pid)) await wait(POLL_MS, undefined, { ref: false });
  return { reason: 'it is gone', lastLines: log.lastLines() };
}

function refuseEviction(facts: RedisFacts): void {
  if (!mayEvict(facts)) return;
  throw new CrewboardError(
    'unavailable',
    `the local Redis has maxmemory-policy ${facts.maxmemoryPolicy} and may drop tasks: set it to noeviction`,
  );
}

async function adopt(
  port: number,
  dir: string,
  log: LogFile,
  signal: AbortSignal,
): Promise<RedisServer | undefined> {
  // A free port means that there is no server; a taken one may be a server that is still starting.
  if (await isPortFree(port)) return undefined;
  const url = urlOf(port);
  const facts = await probeRedis(url, { withinMs: LEFT_OVER_ANSWERS_WITHIN_MS, signal }).catch(
    () => undefined,
  );
  if (facts?.dir !== dir || facts.pid === undefined) return undefined;
  refuseEviction(facts);
  await probeRedis(url, { withinMs: LOADS_WITHIN_MS, waitForLoading: true, signal });
  const { pid } = facts;
  const ended = goneEventually(pid, log);
  return {
    pid,
    url,
    version: facts.version,
    adopted: true,
    ended,
    async stop(how) {
      await shutDownRedis(url);
      if (!(await endsInTime(ended, how)) && exists(pid)) process.kill(pid, 'SIGKILL');
    },
  };
}

function launch(program: string, port: number, options: RedisServerOptions): ChildProcess {
  const settings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: options.dir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(program, args, {
    ...(options.path === undefined ? {} : { env: { PATH: options.path } }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Out of the terminal's process group: Ctrl-C must end Redis last, not first.
    detached: true,
  });
  child.stdout.on('data', options.log.write);
  child.stderr.on('data', options.log.write);
  return child;
}

/**
 * Ends the server `pid` when this process dies in any way, also by kill -9, which no handler of ours would see: a
 * shell waits for the end of a pipe whose other end only this process holds. Returns how to call that off.
 * A server that is left over all the same is taken over by the next start.
 */
function endWithThisProcess(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', 'read -r _; kill "$0"', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of the terminal's process group, like the server.
    detached: true,
  });
  watch.on('error', () => {});
  watch.unref();
  return () => watch.kill('SIGKILL');
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
  port: number,
  options: RedisServerOptions,
  signal: AbortSignal,
): Promise<RedisServer | undefined> {
  const launched = launch(program, port, options);
  const ended = endOf(launched, options.log);
  const child = await spawned(launched);
  if (child?.pid === undefined) return undefined;
  ended.then(endWithThisProcess(child.pid));
  const url = urlOf(port);
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
  const leftOver = kept && (await adopt(kept.port, dir, options.log, signal));
  if (leftOver !== undefined) return leftOver;

  const port = kept !== undefined && (await isPortFree(kept.port)) ? kept.port : await freePort();
  await writeState(stateFile, { port });
  for (const program of PROGRAMS) {
    const server = await startNew(program, port, { ...options, dir }, signal);
    if (server !== undefined) return server;
  }
  return undefined;
}
