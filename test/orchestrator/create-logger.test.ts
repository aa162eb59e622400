import { APIError } from '@anthropic-ai/sdk';
import { createLogger } from '@crewboard/orchestrator';
import { expect, test } from 'vitest';

function openLog(secrets: readonly string[] = []) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLogger({ name: 'test', level: 'info', secrets, destination }), lines };
}

test('an error of an HTTP client is told without its headers and its request', () => {
  const { log, lines } = openLog();
  const error = APIError.generate(
    401,
    { type: 'error', error: { type: 'authentication_error', message: 'no' } },
    undefined,
    new Headers({ 'x-echo': 'canary' }),
  );
  Object.assign(error, { request: { headers: { authorization: 'Bearer canary' }, body: 'canary' } });
  log.warn({ err: error, other: error }, 'failed');
  log.warn(error);
  log.warn({ err: new Error('outer', { cause: error }) }, 'failed');
  expect(lines.join('')).not.toContain('canary');
  for (const line of lines) expect(JSON.parse(line).level).toBe(40);
  expect(JSON.parse(lines[0] ?? '').err.message).toContain('401');
});

test('a secret of the process is in no line, wherever it stands', () => {
  const { log, lines } = openLog(['known-canary-value']);
  log.info({ path: '/v1/known-canary-value', list: ['a known-canary-value'] }, 'known-canary-value');
  log.info({ err: new Error('refused known-canary-value') }, 'failed');
  log.child({ reqId: 'known-canary-value' }).info('a child');
  expect(lines).toHaveLength(3);
  expect(lines.join('')).not.toContain('known-canary-value');
});
