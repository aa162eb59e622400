import { CrewboardError, isCrewboardError } from '@crewboard/client';
import { expect, test } from 'vitest';

const stale = new CrewboardError('stale_version', 'The task is at version 3.', { current: { version: 3 } });

test('an error is told by its code, one of several or any', () => {
  expect(isCrewboardError(stale, 'stale_version')).toBe(true);
  expect(isCrewboardError(stale, 'terminal', 'stale_version')).toBe(true);
  expect(isCrewboardError(stale, 'terminal')).toBe(false);
  expect(isCrewboardError(stale)).toBe(true);
  expect(stale).toMatchObject({ status: 409, retry: 'after_refresh', extras: { current: { version: 3 } } });
});

test('the error of another copy of the package is one, too; other errors are none', () => {
  class OtherCopy extends Error {
    override name = 'CrewboardError';
    code = 'not_found';
  }
  expect(isCrewboardError(new OtherCopy('gone'), 'not_found')).toBe(true);
  expect(isCrewboardError(Object.assign(new Error('no'), { code: 'not_found' }))).toBe(false);
  expect(isCrewboardError({ name: 'CrewboardError', code: 'not_found' })).toBe(false);
  expect(isCrewboardError(Object.assign(new OtherCopy('?'), { code: 'ENOENT' }))).toBe(false);
});
