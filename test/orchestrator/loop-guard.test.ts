import { CrewboardError, type ErrorCode } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { createLoopGuard } from '../../packages/orchestrator/src/loop-guard.ts';

const adviceOf = (guard: ReturnType<typeof createLoopGuard>, caller: string, code: ErrorCode = 'not_ready') =>
  guard.failed('job_1', caller, new CrewboardError(code, 'no', { current: { version: 2 } })).extras.loopGuard;

it('advises from the third error of one code in a row on, and keeps what the error says', () => {
  const guard = createLoopGuard();
  expect([adviceOf(guard, 'bob'), adviceOf(guard, 'bob')]).toEqual([undefined, undefined]);
  const error = new CrewboardError('not_ready', 'no', { current: { version: 2 }, retry: 'same' });
  const advised = guard.failed('job_1', 'bob', error);
  expect(advised).toMatchObject({
    code: 'not_ready',
    detail: 'no',
    retry: 'same',
    extras: { current: { version: 2 } },
  });
  expect(advised.extras.loopGuard).toContain('not_ready 3 times in a row');
  expect(adviceOf(guard, 'bob')).toContain('4 times');
});

it('counts for each caller and job alone, and anew after another code or a success', () => {
  const guard = createLoopGuard();
  for (let i = 0; i < 2; i++) adviceOf(guard, 'bob');
  expect(adviceOf(guard, 'eve')).toBeUndefined();
  expect(
    guard.failed('job_2', 'bob', new CrewboardError('not_ready', 'no')).extras.loopGuard,
  ).toBeUndefined();
  expect(adviceOf(guard, 'bob', 'terminal')).toBeUndefined();
  for (let i = 0; i < 2; i++) expect(adviceOf(guard, 'bob')).toBeUndefined();
  guard.succeeded('job_1', 'bob');
  for (let i = 0; i < 2; i++) expect(adviceOf(guard, 'bob')).toBeUndefined();
  expect(adviceOf(guard, 'bob')).toBeDefined();
});

it('forgets whoever was quiet for longest when there are more than ten thousand', () => {
  const guard = createLoopGuard();
  for (let i = 0; i < 2; i++) {
    adviceOf(guard, 'early');
    adviceOf(guard, 'kept');
  }
  for (let i = 0; i < 9998; i++) adviceOf(guard, `caller-${i}`);
  expect(adviceOf(guard, 'kept')).toBeDefined();
  adviceOf(guard, 'one more');
  expect(adviceOf(guard, 'early')).toBeUndefined();
});
