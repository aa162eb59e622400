import type { Boards } from '@crewboard/board';

/** So many open tasks stand in a compacted conversation; a larger board is seen by board_list. */
const LINES_MOST = 200;
const OPEN_STATUSES = ['in_progress', 'in_review', 'blocked', 'pending'] as const;

/** The open tasks of a board as lines for its lead, those under way first. */
export async function openTaskLines(boards: Boards, jobId: string): Promise<string[]> {
  const lines: string[] = [];
  let open = 0;
  for (const status of OPEN_STATUSES) {
    const { tasks, counts } = await boards.page(jobId, {
      after: 0,
      limit: LINES_MOST,
      status,
      planned: true,
    });
    open += counts[status];
    const room = LINES_MOST - lines.length;
    for (const { id, number, title, version } of tasks.slice(0, room))
      lines.push(`${id} (#${number}, version ${version}, ${status}) "${title}"`);
  }
  return open > lines.length ? [...lines, `and ${open - lines.length} more: see board_list`] : lines;
}
