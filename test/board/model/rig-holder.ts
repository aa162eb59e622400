import type { Hold } from '@crewboard/board';
import { type NewJournalEntry, newSecret } from '@crewboard/contracts';
import { type Answer, type Call, STRIKES } from './calls.ts';
import { type Bench, delayMs, holdOf, idOf, leaseMs, remember, toNewTask } from './rig-bench.ts';

const RESULT = { summary: 'done', artifacts: [], evidence: [] };
const NO_USAGE = { modelCalls: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** What only the lead does. */
export async function leadCall(
  bench: Bench,
  call: Extract<Call, { do: 'tell' | 'wait' | 'finish' }>,
): Promise<Answer> {
  const { boards, jobId } = bench;
  const hold = holdOf(bench, call);
  if (call.do === 'wait') return { word: await boards.waitForNews(hold, call.request) };
  if (call.do === 'tell') {
    const { asOf } = await boards.job(jobId);
    const journal = await boards.openJournal(hold, { attempt: 1, cursorFor: () => asOf });
    await journal.append({ kind: 'message', texts: ['news'] });
    return { word: 'ok' };
  }
  const waive = call.waive.map((number) => ({ taskId: idOf(bench, number), reason: 'enough' }));
  const answer = await boards.finishJob(hold, call.request, { summary: 'all done' }, waive);
  if (answer.kind === 'ended') return { word: 'ended', data: answer.status };
  return answer.kind === 'open' ? { word: 'open', data: answer.openCount } : { word: 'news' };
}

type HolderCall = Extract<
  Call,
  { do: 'heartbeat' | 'note' | 'journal' | 'submit' | 'fail' | 'release' | 'park' | 'block' | 'propose' }
>;

/** What a holder does with its task. */
export async function holderCall(bench: Bench, call: HolderCall): Promise<Answer> {
  const { boards } = bench;
  const hold = holdOf(bench, call);
  switch (call.do) {
    case 'heartbeat': {
      const { version } = await boards.heartbeat(
        hold,
        call.lease === 'same' ? undefined : leaseMs(call.lease),
      );
      return { word: 'ok', data: { version } };
    }
    case 'submit': {
      const { version, already } = await boards.submit(hold, call.request, call.version, RESULT, call.to);
      return { word: already ? 'already' : 'ok', data: { version } };
    }
    case 'journal':
      await append(bench, call, hold);
      return { word: 'ok' };
    case 'note':
      await boards.note(hold, call.request, 'a note');
      return { word: 'ok' };
    case 'fail':
      await boards.fail(hold, call.request, {
        class: call.class,
        reason: 'no idea',
        retryable: call.retryable,
        delayMs: delayMs(call.delay),
        infraStrikes: STRIKES,
        version: call.version,
      });
      return { word: 'ok' };
    case 'release':
      await boards.release(hold, call.request, 'stopping', call.version);
      return { word: 'ok' };
    case 'park':
      await boards.park(hold, call.request, {
        delayMs: delayMs(call.delay),
        reason: 'busy',
        strikesToFail: call.strikes,
      });
      return { word: 'ok' };
    case 'block': {
      const on = call.on === undefined ? {} : { on: idOf(bench, call.on) };
      await boards.block(hold, call.request, {
        kind: call.kind,
        reason: 'stuck',
        ...on,
        version: call.version,
      });
      return { word: 'ok' };
    }
    case 'propose': {
      const task = toNewTask((number) => idOf(bench, number), call.new);
      const by = { kind: 'sub-agent', id: 's1' } as const;
      const added = await boards.propose(hold, call.request, task, by, bench.settings.maxAttempts);
      remember(bench.names, added.number, added.taskId);
      return { word: 'ok', data: { task: added.number } };
    }
  }
}

async function append(bench: Bench, call: Extract<Call, { do: 'journal' }>, hold: Hold): Promise<void> {
  const open = bench.names.tools.get(call.claim) ?? [];
  const toolUseId =
    call.entry === 'result' ? (open.at(-1) ?? 'read-only') : `tool-${open.length}-${newSecret()}`;
  const entries: Record<typeof call.entry, NewJournalEntry> = {
    start: { kind: 'start', fresh: true },
    reply: {
      kind: 'reply',
      messageId: 'm',
      model: 'm',
      content: [],
      stopReason: 'end_turn',
      usage: NO_USAGE,
    },
    started: { kind: 'tool.started', toolUseId, name: 'run_command' },
    result: { kind: 'tool.result', toolUseId, content: 'fine', isError: false },
  };
  const journal = await bench.boards.openJournal(hold, { attempt: call.claim });
  await journal.append(entries[call.entry]);
  if (call.entry === 'started') bench.names.tools.set(call.claim, [...open, toolUseId]);
  if (call.entry === 'result') bench.names.tools.set(call.claim, open.slice(0, -1));
}
