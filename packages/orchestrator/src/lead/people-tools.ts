import type { Boards, Hold } from '@crewboard/board';
import {
  type Actor,
  AskUserInput,
  CrewboardError,
  type PlanOp,
  SubmitPlanInput,
  type Tool,
} from '@crewboard/contracts';

/** `ask_user`: a question for people; the lead goes on, and the answer comes as a message. */
export function createAskUserTool(boards: Boards, hold: Hold): Tool<AskUserInput> {
  return {
    name: 'ask_user',
    description:
      'Asks the people you work for: {question}. Nothing pauses: go on with what does not need the answer, which comes as a <message>; board_wait waits for it.',
    inputSchema: AskUserInput,
    readOnly: false,
    idempotent: true,
    async execute({ question }, { requestId }) {
      await boards.ask(hold, requestId, question);
      return { content: 'Asked. The answer comes as a <message>.' };
    },
  };
}

/** What people said of the last plan, as the lead's model reads it. */
export async function decisionText(boards: Boards, jobId: string): Promise<string> {
  const { decision } = await boards.planState(jobId);
  if (decision === undefined) return JSON.stringify({ decision: 'none' });
  const { tasks = [], ...said } = decision;
  if (said.decision === 'rejected') return JSON.stringify({ ...said, next: 'plan again: submit_plan' });
  const added: { taskId: string; key?: string }[] = [];
  for (let from = 0; from < tasks.length; from += 100) {
    for (const task of await boards.readTasks(jobId, tasks.slice(from, from + 100), false)) {
      if (task !== undefined)
        added.push({ taskId: task.id, ...(task.key === undefined ? {} : { key: task.key }) });
    }
  }
  const created = Object.fromEntries(
    added.flatMap(({ taskId, key }) => (key === undefined ? [] : [[key, taskId]])),
  );
  return JSON.stringify({ ...said, created });
}

/** `submit_plan`: the whole plan, checked like an add, for a person to approve. Parks the lead until then. */
export function createSubmitPlanTool(
  boards: Boards,
  hold: Hold,
  by: Actor,
  /** Each throws for tasks that a lead may not plan; as for `board_plan`. */
  rules: readonly ((ops: readonly PlanOp[]) => Promise<void>)[],
): Tool<SubmitPlanInput> {
  async function check({ tasks }: SubmitPlanInput): Promise<void> {
    if (tasks.length > 0) {
      const ops = tasks.map((task) => ({ op: 'add' as const, ...task }));
      for (const rule of rules) await rule(ops);
      await boards.change(hold.jobId, { adds: tasks, by, dryRun: true });
      return;
    }
    const { counts } = await boards.job(hold.jobId);
    if (counts.total > 0) return;
    throw new CrewboardError('invalid_argument', 'the plan has no tasks and neither has the board', {
      path: 'tasks',
      example: { tasks: [{ key: 'a', title: 'Review a.md' }] },
    });
  }

  return {
    name: 'submit_plan',
    description:
      'Puts your whole plan before the people you work for: {tasks: [{key, title, instructions, dependsOn, ...}], text?}, tasks as in board_plan\'s "add", text for people. No tasks: those on the board are the plan. Until it is approved only read-only tools run. Answers {decision: "approved", created} or {decision: "rejected", text}.',
    inputSchema: SubmitPlanInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute(plan, { requestId }) {
      // What was carried out before is not checked again: its tasks may be on the board by now.
      const isNew = (await boards.checkHold(hold, requestId, 'plan')) === 'current';
      if (isNew) await check(plan);
      const answer = await boards.proposePlan(hold, requestId, plan);
      if (answer === 'decided') return { content: await decisionText(boards, hold.jobId) };
      return { content: '', end: { kind: 'parked', reason: 'the plan waits for approval' } };
    },
  };
}
