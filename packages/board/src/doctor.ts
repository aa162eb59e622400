import type { BoardIo } from './board-io.ts';
import { checkLog, type StoredState } from './doctor-log.ts';
import { type DoctorScripts, doctorScripts, type Finding, HASHES_OF_TASKS } from './doctor-scripts.ts';
import { checkSpend } from './doctor-spend.ts';
import { jobIndex } from './job-index.ts';

/** What a run over one board found. */
export interface DoctorReport {
  jobId: string;
  /** Absent when the board can't be read at all. */
  status?: string;
  tasks: number;
  /** The board was left alone: a submit is filling it. */
  left?: true;
  /** The first FINDINGS_MOST; `more` counts the others. */
  findings: Finding[];
  more: number;
  /** How many of all were not put right. */
  remaining: number;
}

export interface DoctorOptions {
  /** Puts right what follows from other state; never a status or a result. */
  repair?: boolean | undefined;
  /** Older outbox entries are findings: nobody hands on. Default 60 s. */
  outboxMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Findings that a report holds: one damage may show in every task of a board. */
const FINDINGS_MOST = 1000;
const OUTBOX_MS = 60_000;
/** What an edge adds to the unmet counter, by its state; as in lua/lib/dependents.lua. */
const UNITS: Record<string, number> = { u: 1, l: 16_777_216, m: 0 };

/** What is gathered on the way over a board. */
interface Walk {
  scripts: DoctorScripts;
  signal: AbortSignal | undefined;
  report: DoctorReport;
  states: StoredState[];
  /** By task: in how many lists of dependents it stands, and the unmet counter that comes of those. */
  listed: Map<string, { times: number; unmet: number }>;
  /** By task: how many dependencies it has, its unmet counter, and whether its readiness looks wrong. */
  counters: Map<string, { times: number; unmet: number; isSuspect: boolean }>;
}

/** Adds findings to the report. A scan may meet a field twice; what was found twice is one finding. */
function note({ report }: Pick<Walk, 'report'>, findings: readonly Finding[]): void {
  for (const finding of findings) {
    const isKnown = report.findings.some(
      ({ check, taskId, found }) =>
        check === finding.check && taskId === finding.taskId && found === finding.found,
    );
    if (isKnown) continue;
    if (!finding.repaired) report.remaining += 1;
    if (report.findings.length < FINDINGS_MOST) report.findings.push(finding);
    else report.more += 1;
  }
}

/** Adds up a list of dependents: entries of ID, condition and state, 12 characters each. */
function addEdges(walk: Walk, edges: string): void {
  for (let at = 0; at + 12 <= edges.length; at += 12) {
    const dependent = edges.slice(at, at + 10);
    const sum = walk.listed.get(dependent) ?? { times: 0, unmet: 0 };
    walk.listed.set(dependent, {
      times: sum.times + 1,
      unmet: sum.unmet + (UNITS[edges[at + 11] ?? ''] ?? 0),
    });
  }
}

async function walkEdges(walk: Walk, taskId: string, start: number): Promise<void> {
  for (let at = start; at >= 0; ) {
    walk.signal?.throwIfAborted();
    const slice = await walk.scripts.edges(taskId, at);
    note(walk, slice.findings);
    addEdges(walk, slice.edges);
    at = slice.next;
  }
}

async function walkTasks(walk: Walk): Promise<void> {
  let after = 0;
  do {
    walk.signal?.throwIfAborted();
    const slice = await walk.scripts.tasks(after);
    note(walk, slice.findings);
    for (const { unmet, isSuspect, edges, edgesFrom, ...state } of slice.tasks) {
      walk.states.push({ ...state, asOf: slice.asOf });
      walk.counters.set(state.id, { times: state.deps.length / 11, unmet, isSuspect });
      addEdges(walk, edges);
      await walkEdges(walk, state.id, edgesFrom);
    }
    after = slice.last;
  } while (after > 0);
}

/**
 * Tasks whose counter is not the sum of the edges that were met on the way, or whose readiness looks wrong. The board may have moved between the
 * slices, so each is looked at again, by a script that sees both sides at once and alone says what is wrong.
 */
async function checkLinks(walk: Walk): Promise<void> {
  for (const [id, counter] of walk.counters) {
    const listed = walk.listed.get(id) ?? { times: 0, unmet: 0 };
    const agrees = listed.times === counter.times && listed.unmet === counter.unmet;
    if (agrees && !counter.isSuspect) continue;
    walk.signal?.throwIfAborted();
    note(walk, await walk.scripts.links(id));
  }
}

async function walkMembers(walk: Walk): Promise<void> {
  for (const set of ['index', 'window', 'lease', 'due'] as const) {
    for (let at = 0; at >= 0; ) {
      walk.signal?.throwIfAborted();
      const slice = await walk.scripts.members(set, at);
      note(walk, slice.findings);
      at = slice.next;
    }
  }
}

async function walkFields(walk: Walk): Promise<void> {
  for (const hash of HASHES_OF_TASKS) {
    let cursor = '0';
    do {
      walk.signal?.throwIfAborted();
      const slice = await walk.scripts.fields(hash, cursor);
      note(walk, slice.findings);
      cursor = slice.cursor;
    } while (cursor !== '0');
  }
}

/** Looks over boards for what disagrees with itself, and puts right what can be. */
export function doctor(io: BoardIo) {
  const index = jobIndex(io);

  /** An open job must be swept, and an ended one too while its outbox holds something; else it only takes up room. */
  async function checkLive(
    jobId: string,
    scripts: DoctorScripts,
    needed: boolean,
    repair: boolean,
  ): Promise<Finding[]> {
    if ((await index.isLive(jobId)) === needed) return [];
    if (repair && needed) await index.addLive(jobId);
    if (repair && !needed) {
      await index.removeLive(jobId);
      // Unless it was reopened in that moment.
      const begin = await scripts.begin();
      if (begin.kind === 'ok' && !begin.isEnded) await index.addLive(jobId);
    }
    const found = needed ? 'no sweeper looks after it' : 'swept, though nothing is left to do';
    const expected = needed ? 'in the live index' : 'out of the live index';
    return [{ check: 'live', found, expected, repairable: true, repaired: repair }];
  }

  return {
    /**
     * Walks one board in slices of short scripts, so it may run while the board is worked on. Errors: `not_found`,
     * `unavailable`. A board in a newer format is one finding, `format`.
     */
    async examine(jobId: string, options: DoctorOptions = {}): Promise<DoctorReport> {
      const { repair = false, outboxMs = OUTBOX_MS, signal } = options;
      const scripts = doctorScripts(io, jobId, repair);
      const begin = await scripts.begin();
      const report: DoctorReport = { jobId, tasks: 0, findings: [], more: 0, remaining: 0 };
      const walk: Walk = { scripts, signal, report, states: [], listed: new Map(), counters: new Map() };
      if (begin.kind === 'format') {
        note(walk, [
          {
            check: 'format',
            found: `format ${begin.found}`,
            expected: `format ${begin.known} or older: upgrade this process`,
            repairable: false,
            repaired: false,
          },
        ]);
        return report;
      }
      report.status = begin.status;
      // A board that is being filled is nobody's yet, and goes by itself if its submit has crashed.
      if (!begin.isFilled) return { ...report, left: true };
      await walkFields(walk);
      await walkTasks(walk);
      await checkLinks(walk);
      await walkMembers(walk);
      note(walk, await checkSpend(scripts, signal));
      const board = await scripts.board(outboxMs);
      note(walk, board.findings);
      // The log tells of the lead from its first claim on.
      if (board.lead !== undefined && board.lead.version > 1)
        walk.states.push({ ...board.lead, asOf: board.asOf });
      note(walk, await checkLog(io, jobId, walk.states, signal));
      // A sweep takes a job off a moment after its end.
      const needed = board.endedAgoMs < 0 || board.outbox > 0;
      if (needed || board.endedAgoMs > outboxMs) {
        note(walk, await checkLive(jobId, scripts, needed, repair));
      }
      report.tasks = walk.counters.size;
      return report;
    },
  };
}
