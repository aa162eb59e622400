import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentOf, type Place } from './command.ts';

const READY_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 20_000;

/** A `crewboard` in the foreground. */
export interface Foreground extends AsyncDisposable {
  /** All that it said so far, on both streams. */
  said(): string;
  /** Resolves when it has said something that matches, with the match; rejects when it ends before, or takes a minute. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ctrl-C; rejects unless it ends well. */
  stop(): Promise<void>;
}

/** Starts `command args` in `place`. */
export function start(command: string, args: readonly string[], place: Place): Foreground {
  const child = spawn(command, args, {
    cwd: place.cwd,
    env: environmentOf(place),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      child.emit('said');
    });
  const ended = once(child, 'close').then(([code, signal]) => String(signal ?? code));
  const failure = (what: string) => new Error(`crewboard ${args.join(' ')} ${what}:\n${said}`);
  return {
    said: () => said,
    async says(pattern) {
      const late = AbortSignal.timeout(READY_WITHIN_MS);
      for (;;) {
        const match = pattern.exec(said);
        if (match !== null) return match;
        const news = once(child, 'said', { signal: late }).then(() => undefined);
        const end = await Promise.race([news, ended]).catch(() => 'not a word for a minute');
        if (end !== undefined && !pattern.test(said))
          throw failure(`ended (${end}) without saying ${pattern}`);
      }
    },
    async stop() {
      child.kill('SIGINT');
      const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
      const how = await ended;
      clearTimeout(timer);
      if (how !== '0') throw failure(`ended with ${how} after Ctrl-C`);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
