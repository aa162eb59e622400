import {
  AddTasksBody,
  BlockBody,
  BoardPlanInput,
  CancelTaskBody,
  ClaimBody,
  CrewboardError,
  EditBody,
  ERROR_STATUS,
  ErrorCode,
  FailBody,
  httpCall,
  JobBody,
  mendedCall,
  NewTask,
  NoteBody,
  parseOrThrow,
  SubmitBody,
  TaskListQuery,
  toolCall,
  toProblem,
  toToolError,
} from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';

const JOB = 'job_abcdefghjkmn';
const TASK = 't_abcdefgh';
const CALL = { version: 2, summary: 'mine' };
const HTTP = { method: 'POST', path: `/v1/jobs/${JOB}/tasks/${TASK}/submit`, jobId: JOB, taskId: TASK };

const overHttp = (error: CrewboardError, example?: unknown) =>
  toProblem(error, {
    say: (next, valid) => httpCall(next, HTTP, valid),
    example,
    otherwise: { call: 'read_job' },
  });
const asTool = (error: CrewboardError, tool = 'board_submit', example?: unknown): Record<string, unknown> =>
  JSON.parse(toToolError(error, { say: (next, valid) => toolCall(next, tool, valid), example }));

function refusalOf(schema: z.ZodType, value: unknown): CrewboardError {
  try {
    parseOrThrow(schema, value, 'The body');
  } catch (error) {
    if (error instanceof CrewboardError) return error;
  }
  throw new Error('it was not refused');
}

describe('a shape that is not valid is told in plain words:', () => {
  it.each<[string, z.ZodType, unknown, string, object]>([
    ['a wrong type', NoteBody, { text: 5 }, 'text must be a string, got a number', { path: 'text' }],
    ['a missing field', NoteBody, {}, 'text is missing: it must be a string', { path: 'text' }],
    ['our own rule', NoteBody, { text: ' ' }, 'text must not be blank', { path: 'text' }],
    [
      'an unknown field',
      NoteBody,
      { text: 'a', colour: 1 },
      'colour is not a field here',
      { path: 'colour' },
    ],
    [
      'an unknown field with a line break',
      NoteBody,
      { text: 'a', 'co\nl\u202eour': 1 },
      'co l\\u202eour is not a field here',
      {},
    ],
    [
      'a word that is none of the list',
      NewTask,
      { title: 'A', policy: 'never' },
      'policy must be one of none, evidence, checked, approved, got "never"',
      { path: 'policy', allowed: ['none', 'evidence', 'checked', 'approved'] },
    ],
    [
      'a number that is too large',
      NewTask,
      { title: 'A', priority: 9 },
      'priority must be at most 4, got 9',
      {},
    ],
    [
      'a list that is too short',
      ClaimBody,
      { owner: 'a', labels: [] },
      'labels must have at least 1 items',
      {},
    ],
    [
      'a union',
      ClaimBody,
      { owner: 5 },
      'owner must be a string or an object, got a number',
      { path: 'owner' },
    ],
    [
      'a union whose object is wrong inside',
      ClaimBody,
      { owner: { kind: 'robot', id: 'a' } },
      'owner.kind must be one of lead, sub-agent, human, external, got "robot"',
      { path: 'owner.kind', allowed: ['lead', 'sub-agent', 'human', 'external'] },
    ],
    [
      'a union in a list',
      NewTask,
      { title: 'A', dependsOn: [7] },
      'dependsOn[0] must be a string or an object, got a number',
      { path: 'dependsOn[0]' },
    ],
    [
      'a union by its own field',
      BoardPlanInput,
      { ops: [{ op: 'delete' }] },
      'ops[0].op must be one of add, edit, set_dependencies, cancel, reopen, got "delete"',
      { path: 'ops[0].op' },
    ],
    [
      'a query word',
      TaskListQuery,
      { status: 'done' },
      'status must be one of pending, in_progress',
      { path: 'status', allowed: expect.arrayContaining(['in_review']) },
    ],
    ['the whole', NoteBody, [], 'it must be an object, got a list', {}],
  ])('%s', (_, schema, value, words, extras) => {
    const refusal = refusalOf(schema, value);
    expect(refusal.detail).toContain(words);
    expect(refusal.detail).not.toMatch(/Invalid|expected|received|Unrecognized|Too (big|small)/);
    expect(refusal.extras).toMatchObject(extras);
  });

  it('a block on a task without its ID, with a valid example of that kind', () => {
    const refusal = refusalOf(BlockBody, { claimToken: 'x', kind: 'dependency', reason: 'first' });
    const { example } = overHttp(refusal, { claimToken: '1-x', kind: 'needs_input', reason: 'why' });
    expect(example).toMatchObject({ claimToken: '1-x', kind: 'dependency' });
    expect(BlockBody.safeParse(example).success).toBe(true);
  });
});

describe('each code', () => {
  const codes = Object.keys(ERROR_STATUS).map((code) => [ErrorCode.parse(code)] as const);

  it.each(codes)('%s advises one call over HTTP', (code) => {
    expect(overHttp(new CrewboardError(code, 'no')).next).toMatch(/^(GET|POST) \/v1\/jobs/);
  });

  it.each(codes.filter(([code]) => code !== 'unavailable'))(
    '%s says once that nothing was changed',
    (code) => {
      expect(overHttp(new CrewboardError(code, 'no')).detail).toBe('no. Nothing was changed.');
      expect(overHttp(new CrewboardError(code, 'No.\nmore')).detail).toBe('No. Nothing was changed.\nmore');
      const twice = new CrewboardError(code, overHttp(new CrewboardError(code, 'no')).detail);
      expect(overHttp(twice).detail).toBe('no. Nothing was changed.');
    },
  );

  it('unavailable does not: nobody knows', () => {
    expect(overHttp(new CrewboardError('unavailable', 'gone')).detail).toBe('gone');
  });
});

it('one advised call is said in the language of each caller', () => {
  const stale = new CrewboardError('stale_version', 'it has changed', { current: { taskId: TASK } });
  expect(overHttp(stale).next).toBe(`GET /v1/jobs/${JOB}/tasks/${TASK}`);
  expect(asTool(stale).next).toBe(`board_get {"taskId":"${TASK}"}`);
  const waiting = new CrewboardError('not_ready', 'it waits', { current: { taskId: TASK } });
  expect(overHttp(waiting).next).toBe(`GET /v1/jobs/${JOB}/tasks/${TASK}/why`);
  expect(asTool(waiting).next).toBe(`board_get {"taskId":"${TASK}","include":["dependencies"]}`);
});

it('missing evidence is shown as the whole call', () => {
  const evidence = [{ acceptanceId: 'links', kind: 'statement', text: 'what shows it' }];
  const refusal = new CrewboardError('evidence_required', 'links', { example: { evidence } });
  expect(overHttp(refusal, { claimToken: '1-x', version: 2 })).toMatchObject({
    example: { claimToken: '1-x', version: 2, evidence },
    next: `POST ${HTTP.path} ${JSON.stringify({ claimToken: '1-x', version: 2, evidence })}`,
  });
  expect(asTool(refusal, 'board_submit', { taskId: TASK }).next).toBe(
    `board_submit ${JSON.stringify({ taskId: TASK, evidence })}`,
  );
});

it('a wrong argument is answered with a call that only reads, in every language', () => {
  const wrong = new CrewboardError('invalid_argument', 'no', { path: 'version' });
  const example = { version: 1, dependents: 'cancel' };
  expect(overHttp(wrong, example)).toMatchObject({ next: `GET /v1/jobs/${JOB}/tasks/${TASK}`, example });
  expect(asTool(wrong, 'board_submit', { taskId: TASK }).next).toBe('board_list {}');
  expect(asTool(wrong.with({ current: { taskId: TASK } })).next).toBe(`board_get {"taskId":"${TASK}"}`);
});

it.each<[string, unknown, object, unknown]>([
  [
    'a number for a text',
    { ...CALL, artifacts: ['a', 5, 'b', 6] },
    {},
    { ...CALL, artifacts: ['a', '5', 'b', '6'] },
  ],
  ['an unknown field that may mean anything', { ...CALL, colour: 1 }, {}, undefined],
  ['an unknown field beside the one that it was to be', { ...CALL, sumary: 's' }, {}, CALL],
  [
    'a missing field',
    { summary: 'mine' },
    { valid: { version: 9, summary: 'x' } },
    { version: 9, summary: 'mine' },
  ],
  [
    'what only the board knows to be wrong',
    { ...CALL, output: 1 },
    { path: 'output', valid: { output: 2 } },
    undefined,
  ],
  [
    'evidence that the board refused, and its lack would be refused, too',
    {
      ...CALL,
      evidence: [
        { kind: 'statement', text: 'a' },
        { kind: 'statement', text: 'b' },
      ],
    },
    { path: 'evidence[0].acceptanceId' },
    { ...CALL, evidence: [{ kind: 'statement', text: 'b' }] },
  ],
  ['what fits at its place', { ...CALL, output: 1 }, { path: 'output', fits: 3 }, { ...CALL, output: 3 }],
  ['no object', 'nonsense', {}, undefined],
  ['a call that is too long to show', { ...CALL, output: 'x'.repeat(20_000), colour: 1 }, {}, undefined],
])('a refused call is mended by its own fields: %s', (_, given, mending, mended) => {
  expect(mendedCall(SubmitBody, given, mending)).toEqual(mended);
});

const SAMPLE = { sample: true };
const task = (fields: object) => ({ tasks: [{ title: 'Deploy', ...fields }] });

it.each<[string, z.ZodType, unknown, unknown]>([
  ['what becomes of dependents', CancelTaskBody, { version: 1, dependents: 'keep' }, undefined],
  [
    'whether it may be tried again',
    FailBody,
    { claimToken: 't', reason: 'r', retryable: 'maybe' },
    undefined,
  ],
  ['a condition', AddTasksBody, task({ dependsOn: [{ task: 'a', condition: 'success' }] }), undefined],
  ['a task', ClaimBody, { owner: 'me', taskId: 't_4kx9m2a' }, undefined],
  ['a field that can not be changed', EditBody, { version: 1, key: 'x' }, undefined],
  ['an executor', AddTasksBody, task({ executor: 'person' }), undefined],
  [
    'a title that is too long',
    AddTasksBody,
    { tasks: [{ title: 'x'.repeat(201) }, { title: 'B' }] },
    undefined,
  ],
  ['what a field of another name was', AddTasksBody, task({ after: ['a'] }), undefined],
  [
    'yes for true',
    FailBody,
    { claimToken: 't', reason: 'r', retryable: 'yes' },
    { claimToken: 't', reason: 'r', retryable: true },
  ],
  ['a misspelt policy', AddTasksBody, task({ policy: 'aproved' }), task({ policy: 'approved' })],
  ['a held job', JobBody, { goal: 'G', hold: 'yes' }, { goal: 'G', hold: true }],
  [
    'a plan to be approved',
    JobBody,
    { goal: 'G', plan: { approve: 'true' } },
    { goal: 'G', plan: { approve: true } },
  ],
  [
    'a misspelt condition',
    AddTasksBody,
    task({ dependsOn: [{ task: 'a', condition: 'complete' }] }),
    task({ dependsOn: [{ task: 'a', condition: 'completed' }] }),
  ],
  ['one dependency for a list', AddTasksBody, task({ dependsOn: 'a' }), task({ dependsOn: ['a'] })],
  ['a text for a number', AddTasksBody, task({ priority: '1' }), task({ priority: 1 })],
])('a mended call never drops or chooses what only its caller knows: %s', (_, schema, given, mended) => {
  expect(schema.safeParse(given).success).toBe(false);
  expect(mendedCall(schema, given, { valid: SAMPLE })).toEqual(mended);
});

it('control, bidi and hidden characters of a detail are shown, line breaks of ours stay', () => {
  const { detail } = new CrewboardError('forbidden', 'evil\u001b[2J\u202e\u200b\u0007\r\nown\u2028er');
  expect(detail).toBe('evil\\u001b[2J\\u202e\\u200b\\u0007\\u000d\nown\\u2028er');
});
