import { type Boards, type Hold, openBoards } from '@crewboard/board';
import { CrewboardError, type Journal, NO_USAGE, newSecret } from '@crewboard/contracts';
import { Redis } from 'ioredis';
import { type HolderCall, Order, type Report } from './claimer-protocol.ts';

/**
 * A process that claims and holds tasks as it is told over IPC (see claimer-process.ts).
 * Arguments: Redis URL, key prefix, connections (each is a claimer of its own), the connections' name.
 */
const [url = '', prefix = '', connections = '1', connectionName = ''] = process.argv.slice(2);
const RACE_WITHIN_MS = 60_000;
const TOOL_USE = { type: 'tool_use', id: 'toolu_1', name: 'write_file', input: { path: 'a', content: 'b' } };

const lanes = Array.from({ length: Number(connections) }, () =>
  openBoards(new Redis(url, { connectionName, maxRetriesPerRequest: null }), prefix),
);
const stopping = new Set<number>();
/** What this process holds, or thinks that it holds. */
let held: { hold: Hold; version: number; journal: Journal; leaseMs: number } | undefined;

function tell(report: Report): void {
  process.send?.(report);
}

const codeOf = (error: unknown) => (error instanceof CrewboardError ? error.code : String(error));

async function claim(boards: Boards, jobId: string, taskId: string, owner: string, leaseMs: number) {
  const claimed = await boards.claim(jobId, {
    taskId,
    owner: { kind: 'sub-agent', id: owner },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs,
  });
  if (claimed === undefined) throw new Error('nothing was claimed');
  const hold = { jobId, taskId, token: claimed.token };
  const journal = await boards.openJournal(hold, { attempt: claimed.task.attempt });
  held = { hold, version: claimed.task.version, journal, leaseMs };
}

async function call(boards: Boards, name: HolderCall): Promise<void> {
  if (held === undefined) throw new Error('nothing is held');
  const { hold, version, journal, leaseMs } = held;
  const result = { summary: 'done by the process', artifacts: [], evidence: [] };
  const failure = {
    class: 'model',
    reason: 'no idea',
    retryable: true,
    delayMs: 0,
    infraStrikes: 3,
  } as const;
  const calls: Record<HolderCall, () => Promise<unknown>> = {
    heartbeat: () => boards.heartbeat(hold, leaseMs),
    note: () => boards.note(hold, newSecret(), 'half done', { progress: '1 of 2' }),
    progress: () => boards.progress(hold, newSecret(), '2 of 2'),
    'append start': () => journal.append({ kind: 'start', fresh: true }),
    'append message': () => journal.append({ kind: 'message', texts: ['Do it.'] }),
    'append reply': () =>
      journal.append({
        kind: 'reply',
        messageId: 'msg_1',
        model: 'claude-sonnet-5-5',
        content: [TOOL_USE],
        stopReason: 'tool_use',
        usage: { ...NO_USAGE, modelCalls: 1, inputTokens: 100, outputTokens: 10 },
      }),
    'append tool.started': () =>
      journal.append({ kind: 'tool.started', toolUseId: TOOL_USE.id, name: TOOL_USE.name }),
    'append tool.result': () =>
      journal.append({ kind: 'tool.result', toolUseId: TOOL_USE.id, content: 'written', isError: false }),
    propose: () =>
      boards.propose(hold, newSecret(), { title: 'Also this' }, { kind: 'sub-agent', id: 'process' }, 3),
    'commit artifact': () =>
      boards.commitArtifact(hold, newSecret(), {
        ref: 'a_0123456789abcdef0123',
        path: 'report.md',
        bytes: 5,
        sha256: '0'.repeat(64),
        contentType: 'text/markdown',
        isKept: false,
      }),
    submit: () => boards.submit(hold, newSecret(), version, result),
    fail: () => boards.fail(hold, newSecret(), failure),
    release: () => boards.release(hold, newSecret(), 'not now'),
    park: () => boards.park(hold, newSecret(), { delayMs: 60_000, reason: 'later', strikesToFail: 0 }),
    block: () => boards.block(hold, newSecret(), { kind: 'needs_input', reason: 'two files' }),
  };
  await calls[name]();
}

async function race(order: Extract<Order, { do: 'race' }>): Promise<void> {
  const boards = lanes[order.lane];
  if (boards === undefined) throw new Error(`no connection ${order.lane}`);
  const refusals: Record<string, number> = {};
  const startedAt = performance.now();
  for (let tries = 0; ; tries++) {
    const isLast = stopping.delete(order.n) || performance.now() - startedAt > RACE_WITHIN_MS;
    const claimed = await boards
      .claim(order.jobId, {
        ...(order.taskId === undefined ? {} : { taskId: order.taskId }),
        // The same owner on every connection of this process: only the tokens tell them apart.
        owner: { kind: order.kind, id: `process-${process.pid}` },
        secret: newSecret(),
        requestId: newSecret(),
        leaseMs: 60_000,
      })
      .catch(codeOf);
    if (typeof claimed === 'object') {
      const won = { taskId: claimed.task.id, token: claimed.token };
      return tell({ is: 'raced', n: order.n, result: { won, refusals } });
    }
    const why = claimed ?? 'nothing';
    refusals[why] = (refusals[why] ?? 0) + 1;
    if (tries === 0) tell({ is: 'tried', n: order.n });
    if (isLast) return tell({ is: 'raced', n: order.n, result: { refusals } });
  }
}

async function workAll(boards: Boards, order: Extract<Order, { do: 'work' }>): Promise<void> {
  const calls: HolderCall[] = [
    'append start',
    'append message',
    'heartbeat',
    'note',
    'append reply',
    'submit',
  ];
  for (const taskId of order.taskIds) {
    await claim(boards, order.jobId, taskId, 'process', order.leaseMs);
    tell({ is: 'worked', n: order.n, taskId, call: 'claim' });
    for (const name of calls) {
      await call(boards, name);
      tell({ is: 'worked', n: order.n, taskId, call: name });
    }
  }
}

async function carryOut(order: Order): Promise<void> {
  const [boards] = lanes;
  if (boards === undefined) throw new Error('no connection');
  if (order.do === 'stop') stopping.add(order.n);
  else if (order.do === 'race') await race(order);
  else {
    const done =
      order.do === 'claim'
        ? claim(boards, order.jobId, order.taskId, order.owner, order.leaseMs)
        : order.do === 'call'
          ? call(boards, order.call)
          : workAll(boards, order);
    const outcome = await done.then(() => 'ok', codeOf);
    tell({ is: 'done', n: order.n, outcome });
  }
}

process.on('message', (message) => void carryOut(Order.parse(message)));
// Nothing may outlive the test that started it.
process.on('disconnect', () => process.exit(0));
tell({ is: 'ready' });
