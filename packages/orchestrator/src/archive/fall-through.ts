import type { Boards, JobState } from '@crewboard/board';
import { parseJournal, type ReadStoredJournal, storedEntries } from '@crewboard/board';
import { type ArchivedJob, CrewboardError } from '@crewboard/contracts';
import { readNamed } from '../artifacts/missing-content.ts';
import { isMissing } from '../missing.ts';
import type { ArchiveReader } from './archive-reader.ts';
import type { ArchiveStore } from './archive-store.ts';
import { walkUpArchive } from './archive-walk.ts';
import { type AwayFromRedis, awayFromRedis } from './missing-archive.ts';

/** Events that one look for those of a task goes back at most, as on a board. */
const EVENTS_SCANNED = 2000;

const stateOf = (job: ArchivedJob): JobState => ({
  ...job,
  lead: job.lead,
  result: job.result,
  modelDown: job.modelDown,
});

/** What a change of an archived job is answered. */
function archived({ status, endedAt }: ArchivedJob): CrewboardError {
  return new CrewboardError(
    'terminal',
    `the job is ${status} and archived: since ${new Date(endedAt).toISOString()} it was over for longer than CREWBOARD_RETENTION_DAYS. It can be read and deleted, not changed. Nothing was changed. Submit a new job for what is left to do.`,
    { current: { status }, next: { call: 'read_result' } },
  );
}

interface Places {
  archives: ArchiveStore;
  readStored: ReadStoredJournal;
}

/** Makes calls that turn to the archive when the board is not in Redis. */
function turningTo(away: AwayFromRedis) {
  /** A read whose board is missing: what the archive answers, or the refusal when there never was one. */
  async function orArchived<T>(
    jobId: string,
    read: () => Promise<T>,
    readArchive: (archive: ArchiveReader) => Promise<T>,
  ): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const found = isMissing(error)
        ? await away.find(jobId, (archives) => archives.read(jobId, readArchive))
        : undefined;
      if (found === undefined) throw error;
      return found.value;
    }
  }

  /** The first lines of an archive alone. */
  const jobLine = (jobId: string) => away.find(jobId, (archives) => archives.job(jobId));

  return {
    orArchived,
    jobLine,
    /** The same for a read of a plain key, which is empty also when there is no board. */
    async ifEmpty<T>(
      jobId: string,
      read: () => Promise<T>,
      isEmpty: (answer: T) => boolean,
      readArchive: (archive: ArchiveReader) => Promise<T>,
    ): Promise<T> {
      const answer = await read();
      if (!isEmpty(answer)) return answer;
      return (await away.find(jobId, (archives) => archives.read(jobId, readArchive)))?.value ?? answer;
    },
    /** A change: of an archived job it is `terminal`. */
    refused<Args extends unknown[], Answer>(
      change: (...args: Args) => Promise<Answer>,
      jobOf: (...args: Args) => string,
    ) {
      return async (...args: Args): Promise<Answer> => {
        try {
          return await change(...args);
        } catch (error) {
          const line = isMissing(error) ? await jobLine(jobOf(...args)) : undefined;
          throw line === undefined ? error : archived(line.job);
        }
      };
    },
  };
}

type Turning = ReturnType<typeof turningTo>;
type Read = 'job' | 'readTasks' | 'task' | 'page' | 'attempts' | 'walkUp' | 'findArtifact' | 'artifactPage';
type ReadOfKeys = 'events' | 'hasEvent' | 'taskEvents' | 'cancelEvent' | 'readJournal';

function archivedReads(boards: Boards, { orArchived, jobLine }: Turning): Pick<Boards, Read> {
  const noSuchTask = (taskId: string) => new CrewboardError('not_found', `no such task ${taskId}`);
  return {
    async job(jobId) {
      try {
        return await boards.job(jobId);
      } catch (error) {
        // No more of the archive than that: a list of jobs reads many.
        const line = isMissing(error) ? await jobLine(jobId) : undefined;
        if (line === undefined) throw error;
        return stateOf(line.job);
      }
    },
    readTasks: (jobId, ids, full) =>
      orArchived(
        jobId,
        () => boards.readTasks(jobId, ids, full),
        (archive) => archive.readTasks(ids, full),
      ),
    task: (jobId, taskId) =>
      orArchived(
        jobId,
        () => boards.task(jobId, taskId),
        async (archive) => {
          const [task] = await archive.readTasks([taskId], true);
          if (task === undefined) throw noSuchTask(taskId);
          return task;
        },
      ),
    page: (jobId, query) =>
      orArchived(
        jobId,
        () => boards.page(jobId, query),
        (archive) => archive.page(query),
      ),
    attempts: (jobId, taskId, soFar, most = 50) =>
      orArchived(
        jobId,
        () => boards.attempts(jobId, taskId, soFar, most),
        (archive) => archive.attempts(taskId, soFar, most),
      ),
    walkUp: (jobId, taskId, most) =>
      orArchived(
        jobId,
        () => boards.walkUp(jobId, taskId, most),
        (archive) => walkUpArchive(async (id) => (await archive.readTasks([id], false))[0], taskId, most),
      ),
    findArtifact: (jobId, name, reader) =>
      orArchived(
        jobId,
        () => boards.findArtifact(jobId, name, reader),
        (archive) => archive.findArtifact(name),
      ),
    artifactPage: (jobId, after, limit) =>
      orArchived(
        jobId,
        () => boards.artifactPage(jobId, after, limit),
        (archive) => archive.artifactPage(after, limit),
      ),
  };
}

function archivedKeys(
  boards: Boards,
  { ifEmpty }: Turning,
  { readStored }: Places,
): Pick<Boards, ReadOfKeys> {
  const isNone = (answer: readonly unknown[]) => answer.length === 0;
  return {
    events: (jobId, after, limit) =>
      ifEmpty(
        jobId,
        () => boards.events(jobId, after, limit),
        isNone,
        (archive) => archive.events(after, limit),
      ),
    hasEvent: (jobId, id) =>
      ifEmpty(
        jobId,
        () => boards.hasEvent(jobId, id),
        (has) => !has,
        (archive) => archive.hasEvent(id),
      ),
    taskEvents: (jobId, taskId, most) =>
      ifEmpty(
        jobId,
        () => boards.taskEvents(jobId, taskId, most),
        isNone,
        async (archive) => {
          const events = await archive.lastEvents(EVENTS_SCANNED);
          return events.filter((event) => event.taskId === taskId).slice(-most);
        },
      ),
    cancelEvent: (jobId, task) =>
      ifEmpty(
        jobId,
        () => boards.cancelEvent(jobId, task),
        (event) => event === undefined,
        (archive) => archive.cancelEvent(task),
      ),
    readJournal: (jobId, taskId) =>
      ifEmpty(
        jobId,
        () => boards.readJournal(jobId, taskId),
        isNone,
        async (archive) => {
          const stored = await archive.journalOf(taskId);
          if (stored === undefined) return [];
          const { sha256 } = stored;
          const content = { jobId, sha256, what: `the journal of ${taskId}` };
          const text = await readNamed(boards, content, () => readStored(jobId, sha256));
          return parseJournal(taskId, storedEntries(text));
        },
      ),
  };
}

/** What people and holders outside change. What agents do is refused with their tokens. */
function refusedChanges(boards: Boards, { refused }: Turning) {
  const first = (jobId: string) => jobId;
  const ofHold = ({ jobId }: { jobId: string }) => jobId;
  return {
    add: refused(boards.add, first),
    change: refused(boards.change, first),
    resolve: refused(boards.resolve, first),
    pauseJob: refused(boards.pauseJob, first),
    resumeJob: refused(boards.resumeJob, first),
    editJob: refused(boards.editJob, ({ id }) => id),
    setBudget: refused(boards.setBudget, first),
    cancelJob: refused(boards.cancelJob, first),
    startRerun: refused(boards.startRerun, first),
    sendMessage: refused(boards.sendMessage, first),
    // Asked before a plan is decided about; an ended job has none.
    planState: refused(boards.planState, first),
    rejectPlan: refused(boards.rejectPlan, first),
    claim: refused(boards.claim, first),
    checkHold: refused(boards.checkHold, ofHold),
    heartbeat: refused(boards.heartbeat, ofHold),
    note: refused(boards.note, ofHold),
    submit: refused(boards.submit, ofHold),
    block: refused(boards.block, ofHold),
    fail: refused(boards.fail, ofHold),
    release: refused(boards.release, ofHold),
  };
}

/**
 * The same boards, but those that have left Redis are read from their archives, and changes to them are `terminal`. A
 * board in Redis always comes first: an archive beside it may be of a time before the job was opened again. Every call
 * may throw `unavailable` for a job that is listed and has neither board nor whole archive.
 */
export function orFromArchives(boards: Boards, places: Places): Boards {
  const turning = turningTo(awayFromRedis({ boards, archives: places.archives }));
  return {
    ...boards,
    ...archivedReads(boards, turning),
    ...archivedKeys(boards, turning, places),
    ...refusedChanges(boards, turning),
    // Of a task whose board is gone the refusal has said all there is to say.
    aboutTask: (error, jobId, taskId, asker) =>
      boards.aboutTask(error, jobId, taskId, asker).catch((failure: unknown) => {
        if (isMissing(failure)) return error;
        throw failure;
      }),
  };
}
