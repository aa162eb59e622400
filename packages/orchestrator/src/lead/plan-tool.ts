import type { Boards, Hold } from '@crewboard/board';
import { type Actor, BoardPlanInput, CrewboardError, type NewTask, type Tool } from '@crewboard/contracts';
import { jsonAnswer } from '../board-tools.ts';
import { refuseLaterTaskFields } from '../later.ts';

/** The tasks that a plan adds; other operations are refused, never skipped. */
function addedTasks({ ops, dryRun }: BoardPlanInput): NewTask[] {
  if (dryRun)
    throw new CrewboardError(
      'invalid_argument',
      'dryRun is not supported by this version. Nothing was changed.',
    );
  return ops.map((op, i) => {
    if (op.op !== 'add') {
      throw new CrewboardError(
        'invalid_argument',
        `ops[${i}].op "${op.op}" is not supported by this version: only "add" is. Nothing was changed.`,
        { path: `ops[${i}].op`, allowed: ['add'] },
      );
    }
    const { op: _, ...task } = op;
    refuseLaterTaskFields(task, `ops[${i}]`);
    return task;
  });
}

/** `board_plan`: the lead's batch of tasks, all or nothing, fenced by its claim and repeatable after a crash. */
export function createBoardPlanTool(
  boards: Boards,
  hold: Hold,
  by: Actor,
  maxAttempts: number,
): Tool<BoardPlanInput> {
  return {
    name: 'board_plan',
    description: [
      'Puts tasks on the board: {ops: [{op: "add", key, title, instructions, input, dependsOn, acceptance, ...}]}, at most 1,000 a call, all or nothing.',
      'A brief needs objective, output, sources, bounds and acceptance. Plan few, full tasks; give locators instead of content.',
      'dependsOn names keys of this call or task IDs; {task, condition: "settled"} is met by any end, also a failed one.',
      'Answers {created: {key: taskId}, changed: [{taskId, version}], warnings}.',
    ].join(' '),
    inputSchema: BoardPlanInput,
    readOnly: false,
    idempotent: true,
    async execute(input, { requestId }) {
      const tasks = addedTasks(input);
      const added = await boards.add(hold.jobId, {
        tasks,
        by,
        maxAttempts,
        lead: { token: hold.token, requestId },
      });
      const created: Record<string, string> = {};
      for (const [i, task] of tasks.entries()) {
        const taskId = added[i]?.taskId;
        if (task.key !== undefined && taskId !== undefined) created[task.key] = taskId;
      }
      return jsonAnswer({
        created,
        changed: added.map(({ taskId }) => ({ taskId, version: 1 })),
        warnings: [],
      });
    },
  };
}
