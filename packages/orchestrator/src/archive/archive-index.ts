import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import {
  ARCHIVE_FORMAT,
  ArchivedArtifact,
  ArchivedJobLine,
  ArchivedTask,
  ArchiveEnd,
  ArchiveHead,
  CrewboardError,
} from '@crewboard/contracts';
import { z } from 'zod';
import { damagedArchive, parseLine, type RawLine, rawLines } from './lines.ts';

/** Where each line of a section begins, and after the last one where the section ends. */
type Places = number[];

/** What one pass over an archive has found: it is whole, and where everything is. */
export interface ArchiveIndex {
  head: ArchiveHead;
  line: ArchivedJobLine;
  tasks: {
    places: Places;
    /** By place: the number, `status/readiness`, and whether it stands outside what is planned. */
    numbers: number[];
    states: string[];
    outside: Set<number>;
    /** Place by ID. */
    byId: Map<string, number>;
  };
  artifacts: {
    places: Places;
    /** Place by ref, and by path of those that show. */
    byName: Map<string, number>;
    /** Those that show, by number. */
    shown: { number: number; place: number }[];
  };
  events: { places: Places };
}

/** What the writer begins each line of a section with. */
const KINDS = {
  task: Buffer.from('{"kind":"task"'),
  artifact: Buffer.from('{"kind":"artifact"'),
  event: Buffer.from('{"kind":"event"'),
};

const isOf = (kind: keyof typeof KINDS, { bytes }: RawLine) =>
  bytes.subarray(0, KINDS[kind].length).equals(KINDS[kind]);

function parseHead({ bytes }: Pick<RawLine, 'bytes'>, jobId: string): ArchiveHead {
  const { v } = parseLine(z.looseObject({ v: z.number() }), bytes, jobId);
  if (v <= ARCHIVE_FORMAT) return parseLine(ArchiveHead, bytes, jobId);
  throw new CrewboardError(
    'unavailable',
    `the archive of ${jobId} was written by a newer version of Crewboard; upgrade this process.`,
  );
}

function addTask({ tasks }: ArchiveIndex, { at, bytes }: RawLine, jobId: string): void {
  const { task, isOutside } = parseLine(ArchivedTask, bytes, jobId);
  const place = tasks.numbers.length;
  tasks.places.push(at);
  tasks.numbers.push(task.number);
  tasks.states.push(`${task.status}/${task.readiness?.state ?? ''}`);
  tasks.byId.set(task.id, place);
  if (isOutside) tasks.outside.add(place);
}

function addArtifact({ artifacts }: ArchiveIndex, { at, bytes }: RawLine, jobId: string): void {
  const { artifact, shown } = parseLine(ArchivedArtifact, bytes, jobId);
  const place = artifacts.places.length;
  artifacts.places.push(at);
  artifacts.byName.set(artifact.ref, place);
  if (shown === 0) return;
  artifacts.byName.set(artifact.path, place);
  artifacts.shown.push({ number: shown, place });
}

/** Closes the sections once it is known where the end line begins. */
function closeSections({ tasks, artifacts, events }: ArchiveIndex, end: number): void {
  events.places.push(end);
  artifacts.places.push(events.places[0] ?? end);
  tasks.places.push(artifacts.places[0] ?? end);
  artifacts.shown.sort((a, b) => a.number - b.number);
}

function beginIndex(head: ArchiveHead, line: ArchivedJobLine): ArchiveIndex {
  return {
    head,
    line,
    tasks: { places: [], numbers: [], states: [], outside: new Set(), byId: new Map() },
    artifacts: { places: [], byName: new Map(), shown: [] },
    events: { places: [] },
  };
}

/**
 * Reads an archive from its first byte to its last, and finds out whether it is whole. Errors: `unavailable` for one
 * that is cut off, changed, or of a newer version.
 */
export async function indexArchive(handle: FileHandle, jobId: string): Promise<ArchiveIndex> {
  const hash = createHash('sha256');
  let head: ArchiveHead | undefined;
  let index: ArchiveIndex | undefined;
  let last: RawLine | undefined;
  for await (const line of rawLines(handle, jobId)) {
    if (last !== undefined) throw damagedArchive(jobId, 'something stands after its end');
    if (head === undefined) head = parseHead(line, jobId);
    else if (index === undefined) index = beginIndex(head, parseLine(ArchivedJobLine, line.bytes, jobId));
    else if (isOf('event', line)) index.events.places.push(line.at);
    else if (isOf('task', line)) addTask(index, line, jobId);
    else if (isOf('artifact', line)) addArtifact(index, line, jobId);
    else last = line;
    if (last === undefined) hash.update(line.bytes).update('\n');
  }
  if (index === undefined || last === undefined) throw damagedArchive(jobId, 'its end is missing');
  const { sha256 } = parseLine(ArchiveEnd, last.bytes, jobId);
  if (sha256 !== hash.digest('hex')) throw damagedArchive(jobId, 'its checksum is another one');
  if (index.head.jobId !== jobId) throw damagedArchive(jobId, `it is of ${index.head.jobId}`);
  closeSections(index, last.at);
  return index;
}

/** As long as every end line is, with its line break. */
const END_BYTES = Buffer.byteLength(`${JSON.stringify({ kind: 'end', sha256: '0'.repeat(64) })}\n`);

/** Refuses an archive that does not end as one, such as a file that was cut off. */
async function checkEnd(handle: FileHandle, jobId: string): Promise<void> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(END_BYTES);
  await handle.read(bytes, 0, END_BYTES, Math.max(0, size - END_BYTES));
  const line = bytes.toString('latin1');
  if (!/^\{"kind":"end","sha256":"[0-9a-f]{64}"\}\n$/.test(line))
    throw damagedArchive(jobId, 'its end is missing');
}

/** The first two lines alone: what it is, and the job. Of the rest it is only seen that it has an end. */
export async function readArchivedJob(handle: FileHandle, jobId: string): Promise<ArchivedJobLine> {
  await checkEnd(handle, jobId);
  let head: ArchiveHead | undefined;
  for await (const { bytes } of rawLines(handle, jobId)) {
    if (head !== undefined) return parseLine(ArchivedJobLine, bytes, jobId);
    head = parseHead({ bytes }, jobId);
  }
  throw damagedArchive(jobId, 'its end is missing');
}
