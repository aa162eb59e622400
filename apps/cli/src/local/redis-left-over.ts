import { setTimeout as wait } from 'node:timers/promises';
import type { LogFile } from './log-file.ts';
import { isPortFree } from './ports.ts';
import { exists } from './process-identity.ts';
import { probeRedis, refuseEviction, setPassword, shutDownRedis } from './redis-probe.ts';
import { localUrl, type RedisState } from './redis-state.ts';
import { endWithThisProcess } from './redis-watch.ts';
import { endsInTime, type ProcessEnd, type Running } from './running.ts';

/** A redis-server that keeps the data folder's data. */
export interface RedisServer extends Running {
  url: string;
  version: string | undefined;
  /** True when it was left over by a supervisor that was killed. */
  adopted: boolean;
}

/** Reading a large append-only file takes its time. */
export const LOADS_WITHIN_MS = 120_000;
const ANSWERS_WITHIN_MS = 10_000;
const POLL_MS = 500;

/** Resolves when the process `pid`, which is no child of ours, is gone. */
async function goneEventually(pid: number, log: LogFile): Promise<ProcessEnd> {
  while (exists(pid)) await wait(POLL_MS, undefined, { ref: false });
  return { reason: 'it is gone', lastLines: log.lastLines() };
}

/**
 * Takes over the server on `dir` that a killed supervisor left at the place that `kept` tells, or returns undefined
 * when there is none. `password` is kept already and becomes the server's, should it have none yet.
 */
export async function adoptLeftOver(
  kept: RedisState,
  password: string,
  dir: string,
  log: LogFile,
  signal: AbortSignal,
): Promise<RedisServer | undefined> {
  // A free port means that there is no server; a taken one may be a server that is still starting.
  if (await isPortFree(kept.port)) return undefined;
  const url = localUrl(kept.port, kept.password);
  const facts = await probeRedis(url, { withinMs: ANSWERS_WITHIN_MS, signal }).catch(() => undefined);
  if (facts?.dir !== dir || facts.pid === undefined) return undefined;
  refuseEviction(facts);
  await probeRedis(url, { withinMs: LOADS_WITHIN_MS, waitForLoading: true, signal });
  if (kept.password === undefined) await setPassword(url, password);
  const { pid } = facts;
  const ownUrl = localUrl(kept.port, password);
  const ended = goneEventually(pid, log);
  ended.then(await endWithThisProcess(pid, dir));
  return {
    pid,
    url: ownUrl,
    version: facts.version,
    adopted: true,
    ended,
    async stop(how) {
      await shutDownRedis(ownUrl);
      if (!(await endsInTime(ended, how)) && exists(pid)) process.kill(pid, 'SIGKILL');
    },
  };
}
