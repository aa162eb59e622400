import { type Hold, openBoards } from '@crewboard/board';
import { newSecret } from '@crewboard/contracts';
import type { Redis } from 'ioredis';
import { benchJob, idsOf } from '../support.ts';
import type { Design, DesignBoard } from './design.ts';

const NOTHING = { summary: 'done', artifacts: [], evidence: [] };

/** Our boards, a connection a writer. */
export function crewboardBoards(redis: Redis, writers: number): Design {
  const boards = openBoards(redis, '{bench}');
  const connections = Array.from({ length: writers }, () => redis.duplicate());
  const stores = connections.map((connection) => openBoards(connection, '{bench}'));
  const of = (writer: number) => stores[writer] ?? boards;
  return {
    name: 'Crewboard',
    async make(tasks): Promise<DesignBoard> {
      const plan = Array.from({ length: tasks }, (_, i) => ({ title: `Task ${i}` }));
      const jobId = await benchJob(boards, plan, writers);
      const ids = await idsOf(redis, boards, jobId);
      const held = new Map<number, { hold: Hold; version: number }>();
      return {
        async claim(writer, task) {
          const taskId = ids[task] ?? '';
          const claimed = await of(writer).claim(jobId, {
            taskId,
            owner: { kind: 'sub-agent', id: 'bench' },
            secret: newSecret(),
            requestId: newSecret(),
            leaseMs: 60_000,
          });
          if (claimed === undefined) throw new Error('the task was not dispatched');
          const hold = { jobId, taskId, token: claimed.token };
          held.set(task, { hold, version: claimed.task.version });
          return true;
        },
        async submit(writer, task) {
          const holder = held.get(task);
          if (holder === undefined) throw new Error('the task is not held');
          held.delete(task);
          await of(writer).submit(holder.hold, newSecret(), holder.version, NOTHING);
          return true;
        },
        async verify(claims, submits) {
          const { counts } = await boards.job(jobId);
          const started = counts.completed + counts.in_progress;
          if (counts.completed !== submits || started !== claims)
            throw new Error(`lost an update: ${started} of ${claims}, ${counts.completed} of ${submits}`);
          const keys = await redis.keys(`*{${jobId}}*`);
          if (keys.length > 0) await redis.unlink(keys);
        },
      };
    },
    close() {
      for (const connection of connections) connection.disconnect();
    },
  };
}
