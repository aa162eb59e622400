import { CrewboardError, createClient, isCrewboardError } from '@crewboard/client';
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

const SERVER = 'http://127.0.0.1:9';

test.each(['cb_secret\nsecret', 'cb secret', 'schl\u00fcssel', ''])(
  'a key that can not be sent is refused at once, and is not in the error: %j',
  (apiKey) => {
    const make = () => createClient({ baseUrl: SERVER, apiKey });
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    if (apiKey !== '') expect(make).not.toThrow(apiKey);
  },
);

test.each(['nonsense', 'ftp://127.0.0.1', ''])(
  'a server that is no URL is refused at once: %j',
  (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  },
);

test('a body that is no JSON is refused, and not taken for a server that is away', async () => {
  const cyclic: Record<string, unknown> = { title: 'T' };
  cyclic.metadata = cyclic;
  const submitted = createClient({ baseUrl: SERVER }).jobs.submit(cyclic);
  await expect(submitted).rejects.toMatchObject({ code: 'invalid_argument' });
});
