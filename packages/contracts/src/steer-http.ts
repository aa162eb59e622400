import { z } from 'zod';
import { MessageId, TaskId } from './ids.ts';
import { requiredText } from './text.ts';

/** `POST /v1/jobs/:id/messages`: a word to the agent of a task, or to the lead. */
export const MessageBody = z.strictObject({
  text: requiredText(8192),
  target: z.union([TaskId, z.literal('lead')]).optional(),
});
export type MessageBody = z.infer<typeof MessageBody>;

/** 202: stored; `message.delivered` follows with the attempt and turn that were told of it. */
export const MessageAnswer = z.strictObject({ messageId: MessageId });
export type MessageAnswer = z.infer<typeof MessageAnswer>;

/** The version of the plan that was seen; absent: whichever waits now. */
const version = z.number().int().positive().optional();

/** `POST /v1/jobs/:id/plan/approve`. */
export const ApprovePlanBody = z.strictObject({ version });
export type ApprovePlanBody = z.infer<typeof ApprovePlanBody>;

/** `POST /v1/jobs/:id/plan/reject`: the text reaches the lead. */
export const RejectPlanBody = z.strictObject({ version, text: requiredText(4096).optional() });
export type RejectPlanBody = z.infer<typeof RejectPlanBody>;
