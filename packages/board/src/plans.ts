import { type Actor, type JobPlan, NewTask, TaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { type CallName, storedName } from './call-name.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';

const ProposeReply = z.union([
  z.tuple([z.literal('ok'), z.number()]),
  z.tuple([z.literal('already'), z.number()]),
]);
const RejectReply = z.tuple([z.literal('ok'), z.enum(['planning', 'cancelled'])]);
const PlanReply = z.tuple([z.literal('ok'), z.number(), z.number(), z.string(), z.string(), z.string()]);
const StoredPlan = z.object({ tasks: z.array(NewTask), text: z.string().optional() });
const Decision = z.object({
  version: z.number(),
  decision: z.enum(['approved', 'rejected']),
  text: z.string().optional(),
  /** IDs of the plan's tasks in their order. */
  tasks: z.array(TaskId).optional(),
});

/** What people said of the last plan. */
export type PlanDecision = z.infer<typeof Decision>;

export interface PlanState {
  /** How many plans were proposed: the version of the last one. */
  proposed: number;
  /** The plan that waits for people. */
  pending: JobPlan | undefined;
  decision: PlanDecision | undefined;
  /** Questions of the lead that nobody has answered, the last ones. */
  questions: string[];
}

/** Plans that people approve before any task starts; the approval itself is a change with the plan's tasks. */
export function plans(io: BoardIo) {
  return {
    /** What concerns people: the plan that waits, the last decision, open questions. */
    async planState(jobId: string): Promise<PlanState> {
      const reply = parseReply(await io.run(jobId, 'read_plan', []), PlanReply);
      const [, isPending, version, plan, decision, questions] = reply;
      const stored = plan === '' ? { tasks: [] } : StoredPlan.parse(JSON.parse(plan));
      return {
        proposed: version,
        pending: isPending === 1 ? { version, ...stored } : undefined,
        decision: decision === '' ? undefined : Decision.parse(JSON.parse(decision)),
        questions: questions === '' ? [] : z.array(z.string()).parse(JSON.parse(questions)),
      };
    },

    /**
     * Puts the lead's plan before people and parks the lead. `decided` (nothing changed): an earlier attempt made this
     * very proposal, and people have answered. Errors: those of its token, `invalid_transition` outside plan mode.
     */
    async proposePlan(
      hold: Hold,
      name: CallName,
      plan: { tasks: readonly NewTask[]; text?: string | undefined },
    ): Promise<'parked' | 'decided'> {
      const args = [hold.token, storedName(name, 'plan'), JSON.stringify(plan), plan.tasks.length];
      const reply = parseReply(await io.run(hold.jobId, 'propose_plan', args), ProposeReply);
      return reply[0] === 'already' && reply[1] === 1 ? 'decided' : 'parked';
    },

    /**
     * Rejects the plan of this version: the lead plans again; a job without one is cancelled. Errors:
     * `invalid_transition` (no plan waits), `stale_version`, `terminal`, `idempotency_mismatch`.
     */
    async rejectPlan(
      jobId: string,
      decision: { by: Actor; version: number; text: string; request?: PersonRequest | undefined },
    ): Promise<'planning' | 'cancelled'> {
      const { by, version, text } = decision;
      const name = nameOf(decision);
      const args = [`${by.kind}:${by.id}`, version, text, name, hashOf(decision, ['reject', version, text])];
      return parseReply(await io.run(jobId, 'reject_plan', args), RejectReply)[1];
    },
  };
}
