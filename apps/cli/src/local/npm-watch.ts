import { npmAbove } from './parents.ts';
import { identify, isRunning } from './process-identity.ts';

const POLL_MS = 500;

/**
 * Calls `onGone` once when the npm that started this process by `script` has ended, however it did: npm hands a
 * signal on to its shell alone, which ends without us, and kill -9 not at all. Watches nothing when it was not npm
 * that started it. Returns how to call that off.
 */
export function watchNpm(script: string | undefined, onGone: () => void): () => void {
  const parent = process.ppid;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const stop = () => {
    isOver = true;
    clearInterval(timer);
  };

  async function begin(): Promise<void> {
    const watched = await Promise.all((await npmAbove(script, parent)).map((pid) => identify(pid)));
    if (isOver || watched.length === 0) return;
    const look = async () => {
      const alive = await Promise.all(watched.map(isRunning));
      if (isOver || (process.ppid === parent && alive.every(Boolean))) return;
      stop();
      onGone();
    };
    timer = setInterval(() => void look(), POLL_MS).unref();
  }
  void begin();
  return stop;
}
