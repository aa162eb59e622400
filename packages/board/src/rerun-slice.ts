import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { prepareEdit } from './edits.ts';
import { toTask } from './public-task.ts';
import { parseReply } from './replies.ts';
import { BoardRecord, OptionalRow } from './rows.ts';

/** How a task is written in a selection: its ID and its version, so many characters each. */
const PLACE = 10;

export interface SelectedTask {
  taskId: string;
  version: number;
}

/** What is noted of a rerun under way. */
const Note = z.object({ next: z.number().int().nonnegative(), text: z.string() });
const TasksReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow)]);
const Word = z.array(z.unknown());

/** The form in which scripts read a selection. */
export function packSelection(tasks: readonly SelectedTask[]): string {
  return tasks.map(({ taskId, version }) => taskId + String(version).padStart(PLACE, '0')).join('');
}

function unpackSelection(packed: string): SelectedTask[] {
  return Array.from({ length: Math.floor(packed.length / (2 * PLACE)) }, (_, i) => {
    const at = i * 2 * PLACE;
    return {
      taskId: packed.slice(at, at + PLACE),
      version: Number(packed.slice(at + PLACE, at + 2 * PLACE)),
    };
  });
}

/** What a rerun asks for stands below the task's own instructions. */
export function withRerunText(instructions: string | undefined, text: string): string {
  return instructions === undefined ? text : `${instructions}\n\n${text}`;
}

/** The new bodies of a slice's tasks, in its order; none for those that were changed since they were selected. */
async function bodiesOf(io: BoardIo, jobId: string, selected: readonly SelectedTask[], text: string) {
  const ids = selected.map(({ taskId }) => taskId);
  const [, , rows] = parseReply(await io.run(jobId, 'read_tasks', [1, ...ids]), TasksReply);
  return selected.map(({ version }, i) => {
    const row = rows[i];
    const task = row === undefined ? undefined : toTask(row, undefined);
    if (task === undefined || task.version !== version) return '';
    const patch = { instructions: withRerunText(task.instructions, text) };
    return prepareEdit(task, { taskId: task.id, version, patch }).body;
  });
}

/** Opens the next tasks of the rerun of this number again; does nothing when it is over. */
export async function rerunSlice(io: BoardIo, jobId: string, number: string): Promise<void> {
  const noted = await io.guard(() => io.redis.hget(io.keys.board(jobId, 'slices'), `rerun:${number}`));
  if (noted === null) return;
  const { next, text } = Note.parse(JSON.parse(noted));
  const read = () => io.redis.hget(io.keys.board(jobId, 'reruns'), `${number}:${next}`);
  const selected = text === '' ? [] : unpackSelection((await io.guard(read)) ?? '');
  const bodies = selected.length === 0 ? [] : await bodiesOf(io, jobId, selected, text);
  parseReply(await io.run(jobId, 'rerun_slice', [number, next, ...bodies]), Word);
}
