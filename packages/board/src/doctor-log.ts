import { type BoardEvent, CrewboardError, type Dependency } from '@crewboard/contracts';
import { parseOwner } from './actors.ts';
import type { BoardIo } from './board-io.ts';
import { statusOf } from './codes.ts';
import type { Finding } from './doctor-scripts.ts';
import { eventLog } from './event-log.ts';
import { type FoldedTask, foldEvents } from './fold-events.ts';
import { parseDependencies } from './records.ts';

/** A task's state in one slice of a walk; `asOf` is the last event of that moment. */
export interface StoredState {
  id: string;
  version: number;
  code: number;
  attempt: number;
  owner: string;
  /** How the last attempt ended, '' while it runs or when there was none. */
  outcome: string;
  deps: string;
  asOf: string;
}

const EVENTS_A_PAGE = 1000;
/** The log is read once for so many tasks, so that a board of any size takes the same memory. */
const TASKS_A_READING = 20_000;

/** True when the event `id` is none after `asOf`. */
function isUpTo(id: string, asOf: string): boolean {
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  const [lastMs = 0, lastSequence = 0] = asOf.split('-').map(Number);
  return ms < lastMs || (ms === lastMs && sequence <= lastSequence);
}

/**
 * The events of some tasks, each up to the moment in which its state was seen: the board goes on while it is looked
 * at, and so a task's state and its events are of one moment all the same.
 */
async function eventsOf(
  io: BoardIo,
  jobId: string,
  states: ReadonlyMap<string, StoredState>,
  signal: AbortSignal | undefined,
): Promise<BoardEvent[]> {
  const { events } = eventLog(io);
  const last = [...states.values()].reduce((most, { asOf }) => (isUpTo(most, asOf) ? asOf : most), '0-0');
  const found: BoardEvent[] = [];
  for (let after = '0-0'; after !== last; ) {
    signal?.throwIfAborted();
    const page = await events(jobId, after, EVENTS_A_PAGE);
    for (const event of page) {
      const state = event.taskId === undefined ? undefined : states.get(event.taskId);
      if (state !== undefined && isUpTo(event.id, state.asOf)) found.push(event);
    }
    after = page.at(-1)?.id ?? last;
    if (isUpTo(last, after)) break;
  }
  return found;
}

const edgesText = (edges: readonly Dependency[]) =>
  edges
    .map(({ task, condition }) => `${task}${condition}`)
    .sort()
    .join();

/** Where what the log says of a task differs from what the board holds of it. */
function differences(state: StoredState, folded: FoldedTask | undefined): string[][] {
  if (folded === undefined) return [['no event', statusOf(state.code)]];
  const owner = parseOwner(state.owner);
  const pairs: [name: string, log: string, stored: string][] = [
    ['status', folded.status, statusOf(state.code)],
    ['version', String(folded.version), String(state.version)],
    ['attempt', String(folded.attempt), String(state.attempt)],
    ['owner', folded.owner?.id ?? 'nobody', owner?.id ?? 'nobody'],
    ['outcome', folded.outcome?.kind ?? 'none', state.outcome || 'none'],
    ['dependencies', edgesText(folded.dependsOn), edgesText(parseDependencies(state.deps))],
  ];
  return pairs
    .filter(([, log, stored]) => log !== stored)
    .map(([name, log, stored]) => [`the log says ${name} ${log}`, `${name} ${stored}`]);
}

/** Compares the states of tasks with what folding the log makes of them: two accounts of the same facts. */
export function compareFold(
  states: Iterable<StoredState>,
  folded: ReadonlyMap<string, FoldedTask>,
): Finding[] {
  const findings: Finding[] = [];
  for (const state of states) {
    for (const [found = '', expected = ''] of differences(state, folded.get(state.id))) {
      findings.push({
        check: 'events',
        taskId: state.id,
        found,
        expected,
        repairable: false,
        repaired: false,
      });
    }
  }
  return findings;
}

/** Reads a board's log and compares it with the states that a walk saw. An event that can't be read is a finding. */
export async function checkLog(
  io: BoardIo,
  jobId: string,
  states: readonly StoredState[],
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < states.length; from += TASKS_A_READING) {
    const some = new Map(states.slice(from, from + TASKS_A_READING).map((state) => [state.id, state]));
    try {
      const { tasks } = foldEvents(await eventsOf(io, jobId, some, signal));
      findings.push(...compareFold(some.values(), tasks));
    } catch (error) {
      if (!(error instanceof CrewboardError) || !error.detail.startsWith('event ')) throw error;
      const finding = { check: 'events', found: error.detail, expected: 'a log that can be read' };
      return [{ ...finding, repairable: false, repaired: false }];
    }
  }
  return findings;
}
