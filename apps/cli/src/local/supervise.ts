import { setTimeout as wait } from 'node:timers/promises';
import { explain } from '../failure.ts';
import { duration } from '../text.ts';
import { isWarning, readableLogLine } from './log-file.ts';
import type { ProcessEnd, Running, StopOptions } from './running.ts';

/** Something that `up` keeps running. */
export interface Service<R extends Running = Running> {
  name: string;
  /**
   * Starts it and resolves when it serves. Rejects when it can't be started, leaving nothing behind.
   * `previous` is the process that died: others know its address, so the new one takes the same.
   */
  start(signal: AbortSignal, previous: R | undefined): Promise<R>;
}

export interface SuperviseOptions {
  /** Called for each death and each new start, with lines for the user. */
  report(line: string): void;
  firstDelayMs?: number;
  maxDelayMs?: number;
}

export interface Supervised<R extends Running = Running> {
  name: string;
  /** The process as it runs now; the last one while it is being restarted. */
  current(): R;
  /** Ends the process and the supervision. */
  stop(how: StopOptions): Promise<void>;
}

/** A process that served for this long has recovered: the next death waits the first delay again. */
const RECOVERED_AFTER_MS = 30_000;
const SHOWN_LINES = 5;

function reportEnd<R extends Running>(
  service: Service<R>,
  end: ProcessEnd,
  delayMs: number,
  report: (line: string) => void,
): void {
  report(`${service.name} ended (${end.reason}); starting it again in ${duration(delayMs)}`);
  const warnings = end.lastLines.filter(isWarning).slice(-SHOWN_LINES);
  for (const line of warnings) report(`  ${service.name}: ${readableLogLine(line)}`);
}

/**
 * Starts `service` and keeps it running: when it dies it is started again after a delay that doubles from
 * `firstDelayMs` (200) to `maxDelayMs` (10,000), each time with a visible line. The first start is not
 * repeated: it rejects, so that a wrong configuration shows at once.
 */
export async function supervise<R extends Running>(
  service: Service<R>,
  options: SuperviseOptions,
  signal: AbortSignal,
): Promise<Supervised<R>> {
  const { report, firstDelayMs = 200, maxDelayMs = 10_000 } = options;
  const stopping = new AbortController();
  let running = await service.start(signal, undefined);

  /** One try after `delayMs`; true when it runs. */
  async function startAgain(delayMs: number): Promise<boolean> {
    try {
      await wait(delayMs, undefined, { signal: stopping.signal });
      running = await service.start(stopping.signal, running);
      report(`${service.name} runs again`);
      return true;
    } catch (error) {
      if (!stopping.signal.aborted) report(explain(error));
      return false;
    }
  }

  async function keepRunning(): Promise<void> {
    let delayMs = firstDelayMs;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const end = await running.ended;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > RECOVERED_AFTER_MS) delayMs = firstDelayMs;
      reportEnd(service, end, delayMs, report);
      for (let isUp = false; !isUp && !stopping.signal.aborted; ) {
        isUp = await startAgain(delayMs);
        delayMs = Math.min(delayMs * 2, maxDelayMs);
      }
    }
  }

  const keeping = keepRunning();
  return {
    name: service.name,
    current: () => running,
    async stop(how) {
      stopping.abort();
      const before = running;
      await before.stop(how);
      await keeping;
      // A start that was just through when the stop came.
      if (running !== before) await running.stop(how);
    },
  };
}
