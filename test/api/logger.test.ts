import { Writable } from 'node:stream';
import { createLogger } from '@crewboard/api';
import { expect, test } from 'vitest';

test('credentials are cut out of every log line that carries headers', () => {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const logger = createLogger('info', sink);
  const headers = {
    authorization: 'Bearer canary',
    cookie: 'session=canary',
    'set-cookie': 'a=canary',
    host: 'h',
  };
  logger.info({ headers }, 'one');
  logger.info({ req: { headers } }, 'two');
  logger.info(headers, 'three');
  logger.info({ request: headers }, 'four');
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toContain('canary');
  expect(lines.join('')).toContain('"host":"h"');
});
