import { type Actor, cutUtf8, type MessageId, newMessageId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import type { Hold } from './holder-calls.ts';
import { parseReply } from './replies.ts';
import { hashOf, nameOf, type PersonRequest } from './requests.ts';

const MessageReply = z.tuple([z.literal('ok'), z.string()]);
const ShownReply = z.tuple([z.literal('ok'), z.array(z.string())]);
const Stored = z.object({ text: z.string(), by: z.string(), to: z.string() });

/** Of a text in the log: the whole stands in the message itself. */
const LOGGED_BYTES = 200;
/** What one turn is told at most; the rest comes with the next one. */
const TOLD_MOST = 200;
const TOLD_BYTES = 20_000;
const ID_LENGTH = 16;

/** A message that waits for its reader. */
export interface PendingMessage {
  id: MessageId;
  text: string;
  /** The name of who wrote it. */
  by: string;
  /** The task that it was meant for; empty: the lead. */
  to: string;
}

/** Messages of people on their way to agents. */
export function messages(io: BoardIo) {
  async function waiting(jobId: string, taskId: string): Promise<MessageId[]> {
    const key = io.keys.board(jobId, 'messages');
    const ids = (await io.guard(() => io.redis.hget(key, `to:${taskId}`))) ?? '';
    return Array.from({ length: ids.length / ID_LENGTH }, (_, i) =>
      ids.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH),
    );
  }

  return {
    /**
     * Stores a message for a task's agent, or for the lead without `taskId`. Errors: `terminal`, `not_found`,
     * `invalid_argument` (no lead), `limit_exceeded` (too many wait), `idempotency_mismatch`.
     */
    async sendMessage(
      jobId: string,
      message: { by: Actor; text: string; taskId?: string | undefined; request?: PersonRequest | undefined },
    ): Promise<MessageId> {
      const { by, text, taskId = '' } = message;
      const stored = { text, by: by.id, to: taskId };
      const args = [
        `${by.kind}:${by.id}`,
        taskId,
        newMessageId(),
        JSON.stringify(stored),
        cutUtf8(text, LOGGED_BYTES),
        nameOf(message),
        hashOf(message, [taskId, text]),
      ];
      return parseReply(await io.run(jobId, 'message', args), MessageReply)[1];
    },

    /** IDs of the messages that wait for a task's agent (the lead is a task, too), oldest first. */
    waitingMessages: waiting,

    /** The oldest messages that wait for a task's agent, as many as one turn is told: at least one, about 20 KB. */
    async pendingMessages(jobId: string, taskId: string): Promise<PendingMessage[]> {
      const ids = (await waiting(jobId, taskId)).slice(0, TOLD_MOST);
      if (ids.length === 0) return [];
      const key = io.keys.board(jobId, 'messages');
      const stored = await io.guard(() => io.redis.hmget(key, ...ids));
      const found: PendingMessage[] = [];
      let bytes = 0;
      for (const [i, id] of ids.entries()) {
        const json = stored[i];
        // Delivered or given up between the two reads.
        if (json === null || json === undefined) continue;
        bytes += Buffer.byteLength(json);
        if (bytes > TOLD_BYTES && found.length > 0) break;
        const { text, by, to } = Stored.parse(JSON.parse(json));
        found.push({ id, text, by, to });
      }
      return found;
    },

    /**
     * Shows a holder outside messages that wait, with the answer of a heartbeat; answers those that it is shown now.
     * Those that an earlier answer has shown are delivered hereby, unless `requestId` is that of the same heartbeat:
     * then they are shown again. Without `ids` it stands for another call of the holder, which proves the same. Errors: those of
     * its token.
     */
    async showMessages(hold: Hold, requestId: string, ids: readonly MessageId[]): Promise<MessageId[]> {
      const args = [hold.taskId, hold.token, requestId, ...ids];
      return parseReply(await io.run(hold.jobId, 'show_messages', args), ShownReply)[1];
    },
  };
}
