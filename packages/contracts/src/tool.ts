import { z } from 'zod';
import { FailureClass } from './task-states.ts';

/** Why a tool call ends its attempt. The harness of that agent gives it its meaning. */
export const AttemptEnd = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done') }),
  z.object({ kind: z.literal('parked'), reason: z.string() }),
  z.object({ kind: z.literal('failed'), class: FailureClass, reason: z.string() }),
]);
export type AttemptEnd = z.infer<typeof AttemptEnd>;

/** The whole of what an answer shows only in part, or not as it is: a text, or a file's bytes. */
export const WholeOutput = z.object({
  content: z.union([z.string(), z.custom<Uint8Array>((value) => value instanceof Uint8Array)]),
  /** The file that the bytes are of. */
  path: z.string().optional(),
});
export type WholeOutput = z.infer<typeof WholeOutput>;

/**
 * What a tool answers. `content` goes to the model (empty becomes "(no output)"). `end` ends the attempt: the
 * call's result is then not journalled (its claim may be over) and no later call of the turn runs. Only a tool with
 * `endsAttempt: true` may answer it. What a tool answers beside this shape, an `end` of another tool included, is told
 * to the model as an error: the tool ran, and its answer can't be used.
 */
export const ToolAnswer = z.object({
  content: z.string(),
  isError: z.boolean().optional(),
  /** Refused, and the answer brings what is new: the same call again is then no loop as long as that differs. */
  isNews: z.boolean().optional(),
  end: AttemptEnd.optional(),
  /** Kept beside the content when that does not show it exactly; a content that is cut is kept without this. */
  whole: WholeOutput.optional(),
});
export type ToolAnswer = z.infer<typeof ToolAnswer>;

export interface ToolContext {
  /** Aborted on timeout, cancellation and loss of the claim; a tool stops its work and children then. */
  signal: AbortSignal;
  toolUseId: string;
  /** `<journal index of the reply>/<toolUseId>`: the same after a crash, so board writes can be re-sent safely. */
  requestId: string;
}

/**
 * One tool of an agent. `inputSchema` both validates and is published as JSON Schema. `execute` may throw: a
 * CrewboardError becomes its JSON as an `is_error` result, anything else its message.
 */
export interface Tool<Input = unknown> {
  name: string;
  description: string;
  inputSchema: z.ZodType<Input>;
  /** Safe to run again after a crash with unknown end; also allowed in plan mode. */
  readOnly: boolean;
  /** Board writes are not read-only but carry a requestId: after a crash they are re-sent, never "unknown". */
  idempotent?: boolean;
  /** Changes only what the agent says of its own work (its checklist, a note): no reason to look at anything again. */
  bookkeeping?: boolean;
  /** May end the attempt: runs alone, after all other calls of its turn. */
  endsAttempt?: boolean;
  timeoutMs?: number;
  execute(input: Input, context: ToolContext): Promise<ToolAnswer>;
}
