import type { Boards, ChangeInput, Hold } from '@crewboard/board';
import { type Actor, BoardPlanInput, type PlanOp, type Tool } from '@crewboard/contracts';
import { jsonAnswer } from '../board-tools.ts';
import { createdByKey } from '../created.ts';
import { warningsOfAll } from '../warnings.ts';

type Batch = Required<Pick<ChangeInput, 'adds' | 'edits' | 'cancels' | 'reopens'>>;

/** Sorts the operations of a plan into the batch that the board carries out, all or nothing. */
function toBatch(ops: readonly PlanOp[]): Batch {
  const adds: Batch['adds'][number][] = [];
  const edits: Batch['edits'][number][] = [];
  const cancels: Batch['cancels'][number][] = [];
  const reopens: Batch['reopens'][number][] = [];
  for (const operation of ops) {
    if (operation.op === 'add') {
      const { op: _, ...task } = operation;
      adds.push(task);
    } else if (operation.op === 'edit') {
      const { op: _, taskId, version, ...patch } = operation;
      edits.push({ taskId, version, patch });
    } else if (operation.op === 'set_dependencies') {
      const { taskId, version, dependsOn } = operation;
      edits.push({ taskId, version, patch: { dependsOn } });
    } else if (operation.op === 'cancel') cancels.push(operation);
    else reopens.push(operation);
  }
  return { adds, edits, cancels, reopens };
}

/** `board_plan`: the lead's batch of changes, all or nothing, fenced by its claim and repeatable after a crash. */
export function createBoardPlanTool(
  boards: Boards,
  hold: Hold,
  by: Actor,
  /** Throws for operations that plan commands which may not be planned. */
  checkCommands: (ops: readonly PlanOp[]) => Promise<void>,
  /** Throws for operations whose checks could never be run, or may not be planned. */
  refuseUnfitChecks: (ops: readonly PlanOp[]) => Promise<void>,
): Tool<BoardPlanInput> {
  return {
    name: 'board_plan',
    description: [
      'Changes the plan: {ops: [...]}, at most 1,000 operations a call, all or nothing.',
      '{op: "add", key, title, instructions, input, dependsOn, acceptance, ...} adds a task: a brief needs objective, output, sources, bounds and acceptance. Plan few, full tasks; give locators instead of content.',
      'dependsOn names keys of this call or task IDs; {task, condition: "settled"} is met by any end, also a failed one.',
      'With the version that you saw last: {op: "edit", taskId, version, ...}, {op: "set_dependencies", taskId, version, dependsOn}, {op: "cancel", taskId, version, reason, dependents?: "hold"|"cancel"}, {op: "reopen", taskId, version, reason}.',
      'dryRun: true only checks.',
      'Answers {created: {key: taskId}, changed: [{taskId, version}], warnings}.',
    ].join(' '),
    inputSchema: BoardPlanInput,
    readOnly: false,
    idempotent: true,
    async execute({ ops, dryRun }, { requestId }) {
      const batch = toBatch(ops);
      await checkCommands(ops);
      await refuseUnfitChecks(ops);
      const lead = { token: hold.token, requestId };
      if (dryRun) {
        await boards.change(hold.jobId, { ...batch, by, lead, dryRun });
        return jsonAnswer({
          created: {},
          changed: [],
          warnings: ['dryRun: it would be accepted; nothing was changed'],
        });
      }
      const planned = await boards.change(hold.jobId, { ...batch, by, lead });
      const created = createdByKey(batch.adds, planned.added);
      const changed = [...planned.added.map(({ taskId }) => ({ taskId, version: 1 })), ...planned.changed];
      const reopened = batch.reopens.map(({ taskId }) => taskId);
      const warnings = [
        ...planned.startedDependents.map(
          (taskId) => `${taskId} depends on a reopened task and has started already`,
        ),
        ...(await warningsOfAll(boards, hold.jobId, reopened)),
      ];
      return jsonAnswer({ created, changed, warnings });
    },
  };
}
