import { expect, test } from 'vitest';
import { SCRIPT_NAMES, scriptSource } from '../../packages/board/src/scripts.ts';
import { openTestRedis } from '../support/redis.ts';

/** Names that the libraries may still grow by before Lua's limit of 200 locals a function is met. */
const ROOM = 10;

test.each(SCRIPT_NAMES)('%s compiles with room for more shared names', async (name) => {
  await using store = openTestRedis();
  const spare = Array.from({ length: ROOM }, (_, i) => `local spare${i} = ${i}`).join('\n');
  const text = scriptSource(name).replace('return (function()', `${spare}\nreturn (function()`);
  expect(text).toContain('spare9');
  expect(await store.redis.script('LOAD', text)).toHaveLength(40);
});
