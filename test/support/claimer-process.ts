import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { newSecret } from '@crewboard/contracts';
import { type HolderCall, type Order, type RaceResult, Report } from './claimer-protocol.ts';
import { startArguments } from './programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where the boards lie that a claimer works on. */
export interface ClaimerPlace {
  url: string;
  prefix: string;
}

/** A race that a claimer runs: `tried` resolves with its first refusal (or its win), `ended` with the result. */
export interface RunningRace {
  tried: Promise<void>;
  ended: Promise<RaceResult>;
  /** Lets it try once more and end. */
  stop(): void;
}

/** A call of `work` that the process has had an answer to. */
export type Worked = Extract<Report, { is: 'worked' }>;

/** A real process that claims and holds tasks as it is told; disposing kills it, also when it is stopped. */
export interface ClaimerProcess extends AsyncDisposable {
  readonly pid: number;
  /** The name of its connections at Redis. */
  readonly connectionName: string;
  /** Claims a task as a sub-agent `owner`; answers `ok` or the code of the refusal. */
  claim(jobId: string, taskId: string, owner: string, leaseMs: number): Promise<string>;
  /** Makes a call for the task it holds, or thinks it holds; answers `ok` or the code of the refusal. */
  call(name: HolderCall): Promise<string>;
  race(order: Omit<Extract<Order, { do: 'race' }>, 'do' | 'n'>): RunningRace;
  /** Does the tasks one after the other; `onWorked` is told of each call that was answered. */
  work(jobId: string, taskIds: readonly string[], leaseMs: number, onWorked: (call: Worked) => void): void;
  send(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** kill -9; resolves when the process is gone. What it had sent may still reach Redis. */
  kill(): Promise<void>;
}

/** A promise with its ends; Node 20 has no Promise.withResolvers. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

interface Waiting {
  tell(report: Report): void;
  fail(error: Error): void;
}

/** Starts a claimer with `connections` connections to Redis; resolves when it takes orders. */
export async function startClaimer(place: ClaimerPlace, connections = 1): Promise<ClaimerProcess> {
  const connectionName = `claimer-${newSecret()}`;
  const child = spawn(
    process.execPath,
    [...startArguments('claimer'), place.url, place.prefix, String(connections), connectionName],
    { cwd: ROOT, env: {}, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error('the claimer did not start');
  const waiting = new Map<number, Waiting>();
  const ready = deferred<void>();
  const gone = deferred<void>();
  let orders = 0;
  child.on('message', (message) => {
    const report = Report.parse(message);
    if (report.is === 'ready') ready.resolve();
    else waiting.get(report.n)?.tell(report);
  });
  child.once('exit', (code, signal) => {
    const error = new Error(`the claimer ended with ${signal ?? code}`);
    ready.reject(error);
    for (const each of waiting.values()) each.fail(error);
    gone.resolve();
  });
  const order = (what: (n: number) => Order, reports: Waiting): number => {
    const n = ++orders;
    waiting.set(n, reports);
    child.send(what(n));
    return n;
  };
  /** Gives an order and resolves with its outcome. */
  const ask = (what: (n: number) => Order) => {
    const done = deferred<string>();
    order(what, {
      tell: (report) => report.is === 'done' && done.resolve(report.outcome),
      fail: done.reject,
    });
    return done.promise;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await gone.promise;
  };
  await ready.promise;
  return {
    pid,
    connectionName,
    claim: (jobId, taskId, owner, leaseMs) => ask((n) => ({ do: 'claim', n, jobId, taskId, owner, leaseMs })),
    call: (call) => ask((n) => ({ do: 'call', n, call })),
    race(what) {
      const tried = deferred<void>();
      const ended = deferred<RaceResult>();
      const n = order((number) => ({ do: 'race', n: number, ...what }), {
        tell(report) {
          tried.resolve();
          if (report.is === 'raced') ended.resolve(report.result);
        },
        fail(error) {
          tried.reject(error);
          ended.reject(error);
        },
      });
      return { tried: tried.promise, ended: ended.promise, stop: () => child.send({ do: 'stop', n }) };
    },
    work(jobId, taskIds, leaseMs, onWorked) {
      const taken = [...taskIds];
      order((n) => ({ do: 'work', n, jobId, taskIds: taken, leaseMs }), {
        tell: (report) => report.is === 'worked' && onWorked(report),
        fail: () => {},
      });
    },
    send: (signal) => {
      child.kill(signal);
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Starts `count` claimers; disposing kills all of them. */
export async function startClaimers(
  place: ClaimerPlace,
  count: number,
  connections = 1,
): Promise<{ processes: ClaimerProcess[] } & AsyncDisposable> {
  const starting = Array.from({ length: count }, () => startClaimer(place, connections));
  const started = await Promise.allSettled(starting);
  const processes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const close = async () => {
    await Promise.all(processes.map((process) => process.kill()));
  };
  if (processes.length < count) {
    await close();
    throw new Error(`${count - processes.length} claimers did not start`);
  }
  return { processes, [Symbol.asyncDispose]: close };
}
