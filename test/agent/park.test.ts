import { expect, it } from 'vitest';
import { memoryJournal } from '../support/memory-journal.ts';
import { overloaded, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const look = () => reply([toolUse('look')]);

it('parks before its next call when it is asked to, with all tools of the last reply answered', async () => {
  const calls: ToolCallRecord[] = [];
  await using api = await startScriptedApi([reply([toolUse('look'), toolUse('look')])]);
  const tools = [recordingTool(calls, { name: 'look' }), submitTool()];
  const { outcome, journal } = await runOn(api, {
    tools,
    parkAsked: () => (calls.length > 0 ? 'the job is paused' : undefined),
  });
  expect(outcome).toMatchObject({ kind: 'parked', cause: 'asked', reason: 'the job is paused', turns: 1 });
  expect(calls).toHaveLength(2);
  expect(journal.entries.filter(({ kind }) => kind === 'tool.result')).toHaveLength(2);
});

it('calls no model at all when it is asked to park from the start', async () => {
  await using api = await startScriptedApi([]);
  const { outcome } = await runOn(api, { parkAsked: () => 'the job is paused' });
  expect(outcome).toMatchObject({ kind: 'parked', cause: 'asked', turns: 0 });
});

it('still ends with the call that ends the attempt: what is done is not put off', async () => {
  let asked = false;
  await using api = await startScriptedApi(() => {
    asked = true;
    return reply([toolUse('submit')]);
  });
  const { outcome } = await runOn(api, { parkAsked: () => (asked ? 'the job is paused' : undefined) });
  expect(outcome.kind).toBe('done');
});

it('repeats no failing call once it is asked to park', async () => {
  let asked = false;
  await using api = await startScriptedApi(() => {
    asked = true;
    return overloaded();
  });
  const { outcome } = await runOn(api, { parkAsked: () => (asked ? 'the job is paused' : undefined) });
  expect(outcome).toMatchObject({ kind: 'parked', cause: 'asked' });
  expect(api.requests).toHaveLength(1);
});

it('goes on from the journal in a later attempt, and repeats nothing', async () => {
  const calls: ToolCallRecord[] = [];
  await using api = await startScriptedApi([look(), reply([toolUse('submit')])]);
  const tools = [recordingTool(calls, { name: 'look' }), submitTool()];
  const parkAsked = () => (calls.length > 0 ? 'the job is paused' : undefined);
  const first = await runOn(api, { tools, parkAsked });
  const journal = memoryJournal(2, first.journal.entries);
  const { outcome } = await runOn(api, { tools, journal, attempt: 2, limits: LIMITS });
  expect(outcome).toMatchObject({ kind: 'done', turns: 1 });
  expect(calls).toHaveLength(1);
  expect(api.requests).toHaveLength(2);
});
