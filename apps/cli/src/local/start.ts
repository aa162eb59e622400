import { join } from 'node:path';
import type { Config } from '../config.ts';
import { explain } from '../failure.ts';
import { startChild } from './child.ts';
import type { DataFolder } from './data-folder.ts';
import { openLogFile } from './log-file.ts';
import type { Running, StopOptions } from './running.ts';
import { type Service, type Supervised, type SuperviseOptions, supervise } from './supervise.ts';

/** How one child of `up` is started: a module run with this Node. */
export interface ChildCommand {
  file: string;
  args: readonly string[];
}

type Step = (how: StopOptions) => Promise<void>;

/** A start under way: what each of its parts needs, and how all of it is undone. */
export interface Start {
  config: Config;
  folder: DataFolder;
  signal: AbortSignal;
  report(line: string): void;
  /** Keeps `service` running until {@link Start.undo}; resolves when it serves. */
  keep<R extends Running>(service: Service<R>): Promise<Supervised<R>>;
  /** The process IDs of what is kept running, by name, as they are now. */
  pids(): Record<string, number>;
  /** Adds what undoing has to do. */
  onUndo(step: Step): void;
  /** Undoes all so far, newest first; a failing step is reported and doesn't keep the others from it. */
  undo(how: StopOptions): Promise<void>;
}

export interface StartOptions {
  config: Config;
  folder: DataFolder;
  signal: AbortSignal;
  report(line: string): void;
  backoff?: Omit<SuperviseOptions, 'report'> | undefined;
}

/** Begins a start: nothing runs yet. */
export function beginStart({ config, folder, signal, report, backoff }: StartOptions): Start {
  const steps: Step[] = [];
  const kept: Supervised[] = [];
  return {
    config,
    folder,
    signal,
    report,
    async keep(service) {
      const supervised = await supervise(service, { ...backoff, report }, signal);
      kept.push(supervised);
      steps.push((how) => supervised.stop(how));
      return supervised;
    },
    pids: () => Object.fromEntries(kept.map(({ name, current }) => [name, current().pid])),
    onUndo(step) {
      steps.push(step);
    },
    async undo(how) {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        await step(how).catch((error) => report(`while stopping: ${explain(error)}`));
      }
    },
  };
}

/** A service that runs `command` as a child, its output in `<name>.log`; `variables` is its whole environment. */
export function childService(
  start: Start,
  name: string,
  command: (previous: Running | undefined) => ChildCommand & { variables: Readonly<Record<string, string>> },
): Service {
  const log = openLogFile(join(start.folder.logs, `${name.replaceAll(' ', '-')}.log`));
  start.onUndo(async () => log.close());
  return {
    name,
    start: (signal, previous) => startChild({ name, log, ...command(previous) }, signal),
  };
}

/** The port in `url`. */
export function portOf(url: string): number {
  return Number(new URL(url).port);
}
