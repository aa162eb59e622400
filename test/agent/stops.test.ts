import { describe, expect, it } from 'vitest';
import { type AgentOptions, createModelCall, ModelCallError } from '../../packages/agent/src/index.ts';
import { CrewboardError } from '../../packages/contracts/src/index.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import {
  gate,
  hang,
  httpError,
  overloaded,
  rateLimited,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const submit = () => reply([toolUse('submit')]);
const limits = (change: Partial<AgentOptions['limits']>) => ({ ...LIMITS, ...change });

describe('limits and aborts', () => {
  it('runs the tools of the last allowed turn, then stops', async () => {
    const calls: ToolCallRecord[] = [];
    await using api = await startScriptedApi([reply([toolUse('look')]), reply([toolUse('look')])]);
    const tools = [recordingTool(calls, { name: 'look' }), submitTool()];
    const { outcome } = await runOn(api, { tools, limits: limits({ maxTurns: 2 }) });
    expect(outcome).toMatchObject({ kind: 'limit', bound: 'turns', turns: 2 });
    expect(calls).toHaveLength(2);
  });

  it('stops a model call when the time is over', async () => {
    await using api = await startScriptedApi([hang()]);
    const { outcome } = await runOn(api, { limits: limits({ timeoutMs: 1000 }) });
    expect(outcome).toMatchObject({ kind: 'limit', bound: 'time' });
    expect(await api.requests[0]?.ended).toBe('aborted');
  });

  it('aborts a model call at once and carries the reason through', async () => {
    const held = gate(submit());
    await using api = await startScriptedApi([held]);
    const controller = new AbortController();
    const run = runOn(api, { signal: controller.signal });
    await held.reached;
    controller.abort('cancelled by a person');
    expect((await run).outcome).toMatchObject({ kind: 'aborted', reason: 'cancelled by a person' });
    expect(await api.requests[0]?.ended).toBe('aborted');
  });

  it('does nothing when it is aborted before it begins', async () => {
    await using api = await startScriptedApi([]);
    const { outcome, journal } = await runOn(api, { signal: AbortSignal.abort('gone') });
    expect(outcome).toMatchObject({ kind: 'aborted', reason: 'gone', turns: 0 });
    expect(journal.entries).toEqual([]);
  });

  it('aborts with the error of a journal that lost its lease, and stops the other tools', async () => {
    await using api = await startScriptedApi([reply([toolUse('slow'), toolUse('look')])]);
    const error = new CrewboardError('lease_lost', 'the attempt is over');
    const journal = memoryJournal(1, [], { atAppend: 3, stored: false, error });
    let stopped: unknown;
    const slow = recordingTool([], {
      name: 'slow',
      answer: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = signal.reason;
            reject(signal.reason);
          });
        }),
    });
    const { outcome } = await runOn(api, {
      journal,
      tools: [slow, recordingTool([], { name: 'look' }), submitTool()],
    });
    expect(outcome).toMatchObject({ kind: 'aborted', reason: error });
    expect(stopped).toBe(error);
    expect(journal.appends).toBe(3);
  });
});

describe('failing model calls', () => {
  it('are repeated, and leave no trace in the conversation', async () => {
    await using api = await startScriptedApi([overloaded(), httpError(500, 'api_error'), submit()]);
    const { outcome, events, journal } = await runOn(api);
    expect(outcome).toMatchObject({ kind: 'done', turns: 1 });
    expect(events.filter((event) => event.type === 'model.retry')).toMatchObject([
      { failedTries: 1, kind: 'overloaded' },
      { failedTries: 2, kind: 'transient' },
    ]);
    expect(journal.entries.map((entry) => entry.kind)).toEqual(['message', 'reply', 'tool.started']);
  });

  it('park the attempt after the last try, with the error and what the provider asked for', async () => {
    await using api = await startScriptedApi(() => overloaded());
    const { outcome } = await runOn(api);
    expect(outcome).toMatchObject({ kind: 'parked', cause: 'model', error: 'overloaded' });
    expect(api.requests).toHaveLength(3);

    await using limited = await startScriptedApi([rateLimited(30)]);
    const parked = await runOn(limited);
    expect(parked.outcome).toMatchObject({ kind: 'parked', error: 'rate_limited', retryAfterMs: 30_000 });
  });

  it('wait as long as the provider asks within the limit', async () => {
    await using api = await startScriptedApi([overloaded({ 'retry-after-ms': '120' }), submit()]);
    const { events } = await runOn(api);
    expect(events.find((event) => event.type === 'model.retry')).toMatchObject({ waitMs: 120 });
    const [first, second] = api.requests;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(115);
  });

  it('wait no longer than a timer can, and are never hurried by a pause that is no time', async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    await using api = await startScriptedApi(() => rateLimited(3_000_000));
    const long = await runOn(api, { wait, limits: limits({ modelRetryMs: 1e12 }) });
    expect(long.outcome).toMatchObject({ kind: 'parked', retryAfterMs: 3_000_000_000 });
    expect(api.requests).toHaveLength(1);

    const callModel = async () => {
      throw new ModelCallError('rate_limited', 'later', { retryAfterMs: Number.NaN });
    };
    expect((await runOn(api, { wait, callModel })).outcome).toMatchObject({ kind: 'parked' });
    expect(waits).toEqual([]);
  });

  it('that may not be made for long park the attempt at once, and are no tries', async () => {
    await using api = await startScriptedApi([]);
    const callModel = async () => {
      throw new ModelCallError('held', 'rate_limited: until later', { retryAfterMs: 60_000 });
    };
    const { events, outcome } = await runOn(api, { callModel });
    expect(outcome).toMatchObject({
      kind: 'parked',
      cause: 'held',
      reason: 'rate_limited: until later',
      retryAfterMs: 60_000,
    });
    expect(events.some(({ type }) => type === 'model.retry')).toBe(false);
  });

  it('end the run for its harness to go on from, when that can not ask whether they may be made', async () => {
    await using api = await startScriptedApi([]);
    const away = new CrewboardError('unavailable', 'Redis is away');
    const callModel = async () => {
      throw away;
    };
    expect((await runOn(api, { callModel })).outcome).toMatchObject({ kind: 'aborted', reason: away });
  });

  it('of the provider itself are told apart from failures of the task', async () => {
    for (const [status, type] of [
      [401, 'authentication_error'],
      [403, 'permission_error'],
      [404, 'not_found_error'],
      [400, 'invalid_request_error'],
    ] as const) {
      await using api = await startScriptedApi([httpError(status, type)]);
      const { outcome } = await runOn(api);
      expect(outcome).toMatchObject({ kind: 'provider', reason: expect.stringContaining(type) });
      expect(api.requests).toHaveLength(1);
    }
  });

  it('wait no longer once the run is aborted', async () => {
    await using api = await startScriptedApi(() => overloaded({ 'retry-after': '100' }));
    const controller = new AbortController();
    const { outcome } = await runOn(api, {
      signal: controller.signal,
      limits: limits({ modelRetryMs: 600_000 }),
      emit: (event) => event.type === 'model.retry' && controller.abort('stop'),
    });
    expect(outcome).toMatchObject({ kind: 'aborted', reason: 'stop' });
  });

  it('become a fault of the harness only when they are none of these', async () => {
    await using api = await startScriptedApi([]);
    const { outcome } = await runOn(api, {
      notices: async () => {
        throw new TypeError('a bug');
      },
      callModel: createModelCall({ baseUrl: api.url, apiKey: 'none', idleMs: 1000 }),
    });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'infra', reason: 'the harness failed: a bug' });
  });
});
