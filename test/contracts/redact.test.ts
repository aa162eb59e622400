import { redactFields, redactor, redactText, secretsOf } from '@crewboard/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const SECRET = 'canary+/?&="\\ä-0123456789';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a known secret', () => {
  const redact = redactor([SECRET]);

  test.each([
    ['as it is', `key ${SECRET} end`],
    ['in JSON', JSON.stringify({ key: SECRET })],
    ['in a query', `?key=${encodeURIComponent(SECRET)}&a=b`],
    ['alone in base64', base64(SECRET)],
    ['behind a name in base64', base64(`user:${SECRET}`)],
    ['in URL-safe base64', Buffer.from(`k=${SECRET}`).toString('base64url')],
  ])('is taken out %s', (_, text) => {
    const told = redact(text);
    expect(told).toContain('[redacted]');
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain(encodeURIComponent(SECRET));
    expect(Buffer.from(told.replace('[redacted]', ''), 'base64').toString()).not.toContain('0123456789');
  });

  test('is taken out wherever it begins in what is encoded', () => {
    const plain = redactor(['sixteen-letters-9']);
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (before, after) => {
        const decoded = Buffer.from(plain(base64(`${before}sixteen-letters-9${after}`)), 'base64');
        return !decoded.toString().includes('sixteen-letters-9');
      }),
    );
  });

  test('that is no longer than a word stays', () => {
    expect(redactor(['a', 'none'])('nobody has none of a')).toBe('nobody has none of a');
  });
});

test('what looks like a key, a token or a password in a URL is taken out, and names are not', () => {
  expect(redactText('sk-ant-api03-abcDEF0123456789')).toBe('[redacted]');
  expect(redactText('Authorization: bearer abcdefgh.ijkl')).toBe('Authorization: [redacted]');
  expect(redactText('redis://:p4ssw0rd@host:6379/0')).toBe('redis://[redacted]@host:6379/0');
  expect(redactText('see sk-learn_user_guide_part_2 at http://host/@me')).toBe(
    'see sk-learn_user_guide_part_2 at http://host/@me',
  );
});

test('fields named like secrets lose their values at any depth, and stay JSON', () => {
  const line = JSON.stringify({
    a: {
      Authorization: 'Basic canary',
      deep: [{ 'x-api-key': 'can"ary\\' }, { 'set-cookie': ['a=canary'] }],
    },
    claimToken: 'canary',
    inputTokens: 7,
    body: JSON.stringify({ password: 'canary', inner: JSON.stringify({ apiKey: 'canary' }) }),
  });
  const told = redactFields(line);
  expect(told).not.toContain('canary');
  expect(JSON.parse(told)).toMatchObject({ claimToken: '[redacted]', inputTokens: 7 });
});

test.each([
  ['a list that holds brackets', '{"cookie":["a]canary","canary"],"b":1}', '{"cookie":"[redacted]","b":1}'],
  ['a text that is cut off', '{"token":"canary', '{"token":"[redacted]"'],
  ['a list that is cut off', '{"token":["canary"', '{"token":"[redacted]"'],
  ['a quoted text that its frame cuts off', '{"a":"{\\"token\\":\\"canary","b":1}', undefined],
  ['a quoted list', '{"a":"{\\"cookie\\":[\\"canary\\",\\"canary\\"]}"}', undefined],
  ['no text', '{"token":{"b":1},"secret":2}', '{"token":{"b":1},"secret":2}'],
])('of a field named like a secret: %s', (_, json, told) => {
  expect(redactFields(json)).not.toContain('canary');
  if (told !== undefined) expect(redactFields(json)).toBe(told);
});

test('texts of any kind, quoted as often as one likes, lose the secret and nothing of their neighbours', () => {
  const inner = fc.record({ token: fc.string(), other: fc.string() });
  fc.assert(
    fc.property(inner, fc.nat(3), (value, depth) => {
      const quoted = (text: string, times: number): string =>
        times === 0 ? text : quoted(JSON.stringify({ body: text, after: 'stays' }), times - 1);
      const told = redactFields(quoted(JSON.stringify(value), depth));
      expect(told).toBe(quoted(JSON.stringify({ ...value, token: '[redacted]' }), depth));
    }),
  );
});

/** Each has once taken a time that grows with its square: hours at this length, and milliseconds now. */
test.each(['\\', '"token":[', '\\"token\\":\\"', '"token":["', 'sk-', 'a://', '<', ' '])(
  'a text that is long takes a time that grows with its length: %j',
  (part) => {
    for (const begin of ['', '"token":[', 'Bearer '])
      expect(redactFields(redactText(begin + part.repeat(2_000_000 / part.length))).length).toBeGreaterThan(
        0,
      );
  },
);

test('the secrets of a process are its keys and the passwords in its URLs', () => {
  const secrets = secretsOf({
    ANTHROPIC_API_KEY: 'model-key',
    CREWBOARD_API_KEY: 'board-key',
    REDIS_URL: 'redis://:p%40ss@host',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    CREWBOARD_URL: undefined,
  });
  expect(secrets).toEqual(['model-key', 'board-key', 'p%40ss', 'p@ss']);
});
