import { once } from 'node:events';
import { explain } from './failure.ts';
import type { ChildMessage } from './local/child-message.ts';
import { watchNpm } from './local/npm-watch.ts';

/** Something that runs until it is stopped. */
export interface Stoppable {
  url?: string;
  stop(): Promise<void>;
}

/** A process that hangs in its own stop is ended after this time; `up` kills it at about the same time. */
const STOP_WITHIN_MS = 10_000;

/** Sends `message` to the `up` that started this process; does nothing when a person did. */
async function tellSupervisor(message: ChildMessage): Promise<void> {
  if (process.send === undefined || !process.connected) return;
  await new Promise<void>((resolve) => process.send?.(message, () => resolve()));
}

/**
 * Runs `start()` until SIGTERM, SIGINT, SIGHUP or the death of the supervisor (its IPC channel closes, also by
 * kill -9) or of the npm that runs `npmScript`, then stops it and resolves. A second Ctrl-C, or a stop of over 10 s, ends the process at once.
 * Rejects when `start()` does, after telling the supervisor why.
 */
export async function runInForeground(
  start: () => Promise<Stoppable>,
  npmScript?: string | undefined,
): Promise<void> {
  const ending = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    // A second Ctrl-C asks for haste; a supervisor that repeats itself does not, and what runs is given back first.
    if (ending.signal.aborted && name === 'SIGINT') process.exit(1);
    ending.abort();
  };
  // From the first wish to end on, whatever hangs: a start that waits for something gone, or a stop.
  ending.signal.addEventListener('abort', () => setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref());
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, onSignal);
  process.once('disconnect', () => ending.abort());
  const forgetNpm = watchNpm(npmScript, () => ending.abort());
  try {
    const running = await start();
    await tellSupervisor({ type: 'ready', ...(running.url === undefined ? {} : { url: running.url }) });
    if (!ending.signal.aborted) await once(ending.signal, 'abort');
    await running.stop();
  } catch (error) {
    await tellSupervisor({ type: 'failed', detail: explain(error) });
    throw error;
  } finally {
    forgetNpm();
    for (const name of signals) process.off(name, onSignal);
    // An open channel would keep this process alive.
    if (process.connected) process.disconnect();
  }
}
