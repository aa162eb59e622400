import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { type Defective, endAtDefects } from '../../apps/cli/src/defects.ts';

test('an error that nobody caught ends the process with one line, without stack and secrets', async () => {
  const emitter = new EventEmitter();
  const lines: string[] = [];
  const ended = new Promise<number>((resolve) => {
    const process: Defective = {
      on: (event, listener) => emitter.on(event, listener),
      exit: resolve,
    };
    endAtDefects(process, { message: (text) => lines.push(text), status: () => {} });
  });
  let hasLogged = false;
  emitter.on('uncaughtException', () => {
    hasLogged = true;
  });
  const error = Object.assign(new Error('no answer from redis://:canary@host'), {
    headers: { authorization: 'canary' },
  });
  emitter.emit('uncaughtException', error);
  expect(hasLogged).toBe(true);
  expect(await ended).toBe(1);
  expect(lines).toEqual(['crewboard: a defect ended this process: no answer from redis://[redacted]@host']);
});
