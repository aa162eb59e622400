import { type BlockKind, CrewboardError, type NewTask, type TaskId } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { type CallName, contentHash, storedName } from './call-name.ts';
import { withChangedSince } from './changed-since.ts';
import { checkGraph } from './graph.ts';
import type { Hold } from './holder-calls.ts';
import { prepareTask } from './new-tasks.ts';
import { parseDependencies } from './records.ts';
import { parseReply } from './replies.ts';
import { BoardRecord } from './rows.ts';

const BlockReply = z.union([z.tuple([z.enum(['ok', 'already']), z.number()]), z.tuple([z.literal('graph')])]);
const ProposeReply = z.union([
  z.tuple([z.literal('ok'), z.string(), z.number()]),
  z.tuple([z.literal('collision')]),
]);
const BoardReply = z.tuple([z.literal('ok'), BoardRecord]).rest(z.unknown());
const TRIES = 8;
const DEPENDENCY_EXAMPLE = { kind: 'dependency', on: 't_4kx9m2ab' };

/** What a holder asks of others: an answer, another task first, a task that is not planned. */
export function holderRequests(io: BoardIo) {
  async function graphWith(hold: Hold, on: string) {
    const [, board] = parseReply(await io.run(hold.jobId, 'read_job', []), BoardReply);
    const stored = await io.guard(() => io.redis.hget(io.keys.board(hold.jobId, 'deps'), hold.taskId));
    const above = parseDependencies(stored ?? '').map((edge) => edge.task);
    return checkGraph(io, hold.jobId, { dependsOn: new Map([[hold.taskId, [...above, on]]]) }, board.graph);
  }

  return {
    /**
     * Ends the attempt as blocked. With kind `dependency` and `on` the task waits for that one instead and is pending
     * at once. Errors: those of the token, `unknown_dependency`, `dependency_cycle`, `invalid_argument`.
     */
    async block(
      hold: Hold,
      name: CallName,
      block: {
        kind: BlockKind;
        reason: string;
        question?: string | undefined;
        on?: TaskId | undefined;
        version?: number | undefined;
      },
    ): Promise<void> {
      const { kind, reason, question = '', on = '', version = '' } = block;
      if ((kind === 'dependency') !== (on !== '')) {
        throw new CrewboardError(
          'invalid_argument',
          'kind "dependency" needs "on", a task ID, and no other kind takes it.',
          { path: 'on', ...(kind === 'dependency' ? { example: DEPENDENCY_EXAMPLE } : {}) },
        );
      }
      for (let tries = 0; tries < TRIES; tries++) {
        const { graph, cycle } = on === '' ? { graph: '' } : await graphWith(hold, on);
        const args = [
          hold.taskId,
          hold.token,
          storedName(name, 'block'),
          version,
          kind,
          reason,
          question,
          on,
          graph,
        ];
        const reply = await withChangedSince(io, hold, block.version, async () =>
          parseReply(await io.run(hold.jobId, 'block', args), BlockReply),
        );
        if (reply[0] !== 'graph') return;
        if (cycle !== undefined) throw cycle;
      }
      throw new CrewboardError(
        'unavailable',
        'the dependencies of this board change too fast. Nothing was changed. Try again.',
      );
    },

    /** Proposes a task; it is held until the lead or a person accepts it. Errors: those of the token and of adds. */
    async propose(
      hold: Hold,
      requestId: string,
      task: NewTask,
      by: { kind: 'sub-agent' | 'human' | 'external'; id: string },
      maxAttempts?: number,
    ): Promise<{ taskId: TaskId; number: number }> {
      const hash = contentHash(JSON.stringify(task));
      for (let tries = 0; tries < TRIES; tries++) {
        const prepared = prepareTask(task, by, { maxAttempts, hold: 'proposal' });
        const headers = JSON.stringify([prepared.header(0)]);
        const args = [
          hold.taskId,
          hold.token,
          requestId,
          hash,
          '',
          headers,
          '',
          '',
          prepared.head,
          prepared.body,
        ];
        const reply = parseReply(await io.run(hold.jobId, 'propose', args), ProposeReply);
        if (reply[0] === 'ok') return { taskId: reply[1], number: reply[2] };
      }
      throw new Error('task IDs collide again and again');
    },
  };
}
