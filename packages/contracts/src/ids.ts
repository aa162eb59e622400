import { customAlphabet } from 'nanoid';
import { z } from 'zod';

/** No look-alikes (0/o, 1/i/l): people read IDs aloud and models copy them. */
const ID_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';

const randomTaskSuffix = customAlphabet(ID_ALPHABET, 8);
const randomJobSuffix = customAlphabet(ID_ALPHABET, 12);
const randomSecret = customAlphabet(`${ID_ALPHABET}ABCDEFGHJKLMNPQRSTUVWXYZ`, 24);

/** A task's stable ID: `t_` and 8 characters; unique on its board, never reused, never derived from content. */
export const TaskId = z
  .string()
  .regex(/^t_[2-9a-hjkmnp-z]{8}$/, 'must be a task ID such as "t_4kx9m2ab"')
  .meta({ examples: ['t_4kx9m2ab'] });
export type TaskId = z.infer<typeof TaskId>;

/** A job's ID: `job_` and 12 characters. */
export const JobId = z
  .string()
  .regex(/^job_[2-9a-hjkmnp-z]{12}$/, 'must be a job ID such as "job_4kx9m2ab7ycd"');
export type JobId = z.infer<typeof JobId>;

/** An event's ID: the board stream's own, `<ms>-<sequence>`. */
export const EventId = z
  .string()
  .regex(/^\d{1,15}-\d{1,10}$/, 'must be an event ID such as "1764500000000-0"');
export type EventId = z.infer<typeof EventId>;

/** A person's message: `msg_` and 12 characters. */
export const MessageId = z.string().regex(/^msg_[2-9a-hjkmnp-z]{12}$/, 'must be a message ID');
export type MessageId = z.infer<typeof MessageId>;

/** Returns a new random message ID. */
export function newMessageId(): MessageId {
  return `msg_${randomJobSuffix()}`;
}

/** Returns a new random task ID. The board refuses a collision, so callers may retry with another. */
export function newTaskId(): TaskId {
  return `t_${randomTaskSuffix()}`;
}

/** Returns a new random job ID. */
export function newJobId(): JobId {
  return `job_${randomJobSuffix()}`;
}

/** Returns a new random ID of an API key. */
export function newKeyId(): string {
  return `key_${randomJobSuffix()}`;
}

/** Returns a random, unguessable string of 24 characters (over 130 bits): claim tokens, request IDs, keys. */
export function newSecret(): string {
  return randomSecret();
}
