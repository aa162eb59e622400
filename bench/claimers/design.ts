/** A board as a design under test sees it: tasks by their place in the plan, writers by number. */
export interface DesignBoard {
  /** Resolve with false when `deadline` (performance.now()) came before the change was made; then nothing changed. */
  claim(writer: number, task: number, deadline: number): Promise<boolean>;
  submit(writer: number, task: number, deadline: number): Promise<boolean>;
  /** Throws unless the board holds exactly so many claims and submits: no update was lost, none made up. */
  verify(claims: number, submits: number): Promise<void>;
}

/** A way to keep boards in Redis, with a connection a writer. */
export interface Design {
  name: string;
  /** Makes a board of so many ready tasks. */
  make(tasks: number): Promise<DesignBoard>;
  close(): void;
}

/** What a run came to. */
export interface Throughput {
  transitions: number;
  seconds: number;
}

/** One board, worked on by `writers` until no task is left or the deadline comes. */
async function runBoard(
  board: DesignBoard,
  tasks: number,
  writers: number,
  deadline: number,
): Promise<number> {
  let next = 0;
  let claims = 0;
  let submits = 0;
  const work = async (_: unknown, writer: number) => {
    while (next < tasks && performance.now() < deadline) {
      const task = next++;
      if (!(await board.claim(writer, task, deadline))) return;
      claims++;
      if (!(await board.submit(writer, task, deadline))) return;
      submits++;
    }
  };
  await Promise.all(Array.from({ length: writers }, work));
  await board.verify(claims, submits);
  return claims + submits;
}

/** Works on boards of `tasks` tasks, one after the other, for about `forMs` of pure working time; checks each. */
export async function runDesign(
  design: Design,
  tasks: number,
  writers: number,
  forMs: number,
): Promise<Throughput> {
  let transitions = 0;
  let spentMs = 0;
  while (spentMs < forMs) {
    const board = await design.make(tasks);
    const startedAt = performance.now();
    let endedAt = startedAt;
    // The check of the board is no part of the time.
    const timed: DesignBoard = {
      ...board,
      verify: (claims, submits) => {
        endedAt = performance.now();
        return board.verify(claims, submits);
      },
    };
    transitions += await runBoard(timed, tasks, writers, startedAt + forMs - spentMs);
    spentMs += endedAt - startedAt;
  }
  return { transitions, seconds: spentMs / 1000 };
}
