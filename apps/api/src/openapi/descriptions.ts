import { type Access, neededFor } from '../access.ts';
import type { Route } from '../route.ts';

/** What the summary of an operation leaves unsaid, by the route's name. */
const MORE: Readonly<Record<string, string>> = {
  submitJob:
    'At least one of `goal`, `tasks` and `map`. With `hold: true` tasks can be added until the job is started.',
  deleteJob: 'Of an ended job: its board, results, transcripts and files go for good.',
  editJob: 'Names the `version` of the job that was seen.',
  startJob: 'From then on tasks run as they get ready.',
  rerunTasks:
    'All of `where` must match. With `expectCount` nothing is run again unless just so many tasks match.',
  listTasks:
    'Tasks come without instructions, input, output and evidence. All filters must match; a page of `label`, `key` or ' +
    '`class` may be short, or empty, while `nextCursor` says that there is more. `asOf` is the event from which a stream goes on ' +
    'without a gap.',
  addTasks: 'All of them or none, at most 1,000 a call. Keys resolve within the batch, then on the board.',
  followEvents:
    'The stream begins at the first event unless `Last-Event-ID` or `after` names one, and ends after the terminal event. ' +
    'If the named event is not in the log, one `resync` event gives the ID from which to go on.',
  downloadResults: 'Works at any time: a task that has not ended is there with its status.',
  downloadArtifact: 'By the path or the ref. `Range` takes one range of bytes.',
  claimTask:
    'With `taskId` that task; with `labels` the first ready task that has all of them; else the next ready task for ' +
    'outside. The token in the answer proves to every later call that the attempt is yours.',
  heartbeatTask: 'Send one well before `leaseUntil`. `notices` are messages of people.',
  submitTask:
    'Names the `version` that was seen: of a task that was edited since, it is refused with what changed.',
  createKey: 'The text of the key is in this answer alone: the server keeps a hash of it.',
  revokeKey: 'Requests that run with the key, and logins with it, end soon after.',
};

function needOf(access: Access): string {
  if (access === 'public') return 'Needs no key.';
  if (access === 'any-key' || access === 'read') return 'Any key will do.';
  return `Needs ${neededFor(access)}.`;
}

/** Returns what is said of an operation below its summary: how it behaves, and what key it needs. */
export function descriptionOf({ name, access }: Route): string {
  const more = MORE[name];
  return more === undefined ? needOf(access) : `${more}\n\n${needOf(access)}`;
}

/** The names of {@link descriptionOf}'s extra texts. */
export const DESCRIBED: readonly string[] = Object.keys(MORE);
