import { parseEnvironment } from '@crewboard/contracts';
import { expect, test } from 'vitest';

test.each([
  ['CREWBOARD_PORT', 'foo', 'must be a whole number from 0 to 65535, got "foo"'],
  ['CREWBOARD_PORT', '70000', 'must be a whole number from 0 to 65535, got "70000"'],
  ['CREWBOARD_CONCURRENCY', '1.5', 'must be a whole number from 1 to 1000, got "1.5"'],
  ['CREWBOARD_CONCURRENCY', '0x10', 'must be a whole number from 1 to 1000, got "0x10"'],
  ['CREWBOARD_RETENTION_DAYS', '-1', 'must be a number from 0 to 3650 such as 30 or 0.5, got "-1"'],
  ['CREWBOARD_RETENTION_DAYS', '1e3', 'must be a number from 0 to 3650 such as 30 or 0.5, got "1e3"'],
  ['CREWBOARD_COMMANDS', 'on', 'must be off, sandbox or host, got "on"'],
  ['CREWBOARD_URL', 'me:secret@host', 'must be a URL such as http://127.0.0.1:8080'],
  ['REDIS_URL', 'http://me:secret@host', 'must be a URL such as redis://127.0.0.1:6379'],
  ['CREWBOARD_API_KEY', 'short', 'must be at least 16 characters'],
  ['CREWBOARD_RATE_LIMIT', 'none', 'must be a whole number from 0 to 1000000, got "none"'],
  ...[
    '*',
    'https://a.example/',
    'https://a.example/x',
    'crew.example',
    'null',
    'https://*.example',
    'ftp://a',
  ].map((origin) => [
    'CREWBOARD_CORS_ORIGINS',
    `https://good.example, ${origin}`,
    `must be origins such as https://crew.example with commas between them (scheme, host and port alone, never "*"), got "${origin}"`,
  ]),
  ...['10.0.0.0/33', '10.0.0', 'proxy.example', '::1/129', '*'].map((proxy) => [
    'CREWBOARD_TRUSTED_PROXIES',
    proxy,
    `must be addresses or networks such as 10.0.0.7 or 10.0.0.0/8 with commas between them, got "${proxy}"`,
  ]),
])('says what %s must be when it is "%s"', (name, value, expected) => {
  expect(() => parseEnvironment({ [name]: value })).toThrow(`invalid_argument: ${name} ${expected}`);
});

test('repeats at most the beginning of a long value', () => {
  expect(() => parseEnvironment({ CREWBOARD_PORT: 'x'.repeat(1000) })).toThrow(/got "x{60}…"$/);
});

test('takes an empty variable for an absent one, and numbers with spaces around', () => {
  expect(parseEnvironment({ CREWBOARD_PORT: '', CREWBOARD_CONCURRENCY: ' 3 ' })).toMatchObject({
    CREWBOARD_PORT: 7420,
    CREWBOARD_CONCURRENCY: 3,
  });
});

test.each([
  ['0', 0],
  ['0.00002', 0.00002],
  [' 30 ', 30],
])('takes "%s" for so many days', (text, days) => {
  expect(parseEnvironment({ CREWBOARD_RETENTION_DAYS: text }).CREWBOARD_RETENTION_DAYS).toBe(days);
});

test('takes lists with commas, and leaves what is closed by default closed', () => {
  expect(
    parseEnvironment({
      CREWBOARD_CORS_ORIGINS: ' https://crew.example , http://localhost:5173,',
      CREWBOARD_TRUSTED_PROXIES: '10.0.0.7,fd00::/8',
      CREWBOARD_RATE_LIMIT: '0',
    }),
  ).toMatchObject({
    CREWBOARD_CORS_ORIGINS: ['https://crew.example', 'http://localhost:5173'],
    CREWBOARD_TRUSTED_PROXIES: ['10.0.0.7', 'fd00::/8'],
    CREWBOARD_RATE_LIMIT: 0,
  });
  const { CREWBOARD_CORS_ORIGINS, CREWBOARD_TRUSTED_PROXIES, CREWBOARD_RATE_LIMIT } = parseEnvironment({});
  expect([CREWBOARD_CORS_ORIGINS, CREWBOARD_TRUSTED_PROXIES, CREWBOARD_RATE_LIMIT]).toEqual([
    [],
    [],
    undefined,
  ]);
});
