import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';

/** A command on a terminal of its own, by util-linux' `script`. */
export interface Pty extends AsyncDisposable {
  /** Types `keys`. */
  type(keys: string): void;
  /** Resolves when `text` is shown after all that was waited for before, with what came until then; rejects at the end of output. */
  shows(text: string): Promise<string>;
  /** The exit code, once the command has ended. */
  ended: Promise<number | null>;
}

/** False where there is no such `script`, as on macOS. */
export const HAS_PTY = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

/** Runs `command` by a shell on a terminal of `columns`. */
export function openPty(command: string, columns: number, env: NodeJS.ProcessEnv): Pty {
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 20; ${command}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const news = new EventEmitter();
  let shown = '';
  let isOver = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    news.emit('news');
  });
  const ended = once(child, 'close').then(([code]): number | null => {
    isOver = true;
    news.emit('news');
    return code;
  });
  return {
    ended,
    type: (keys) => void child.stdin.write(keys),
    async shows(text) {
      while (!shown.includes(text)) {
        if (isOver)
          throw new Error(`ended without showing ${JSON.stringify(text)}: ${JSON.stringify(shown)}`);
        await once(news, 'news');
      }
      const end = shown.indexOf(text) + text.length;
      const before = shown.slice(0, end);
      shown = shown.slice(end);
      return before;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
