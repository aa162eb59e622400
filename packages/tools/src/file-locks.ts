/** Lets one change of a file at a time happen in this process, whichever agent asks for it. */
export interface FileLocks {
  /** Runs `work` when all earlier work on `path` is over. */
  run<T>(path: string, work: () => Promise<T>): Promise<T>;
}

/** Makes the locks of a process; they hold a path only while there is work on it. */
export function createFileLocks(): FileLocks {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(path, work) {
      const before = last.get(path) ?? Promise.resolve();
      const mine = before.then(work, work);
      const settled = mine.catch(() => {});
      last.set(path, settled);
      try {
        return await mine;
      } finally {
        if (last.get(path) === settled) last.delete(path);
      }
    },
  };
}
