import { expect, test } from 'vitest';
import { SCRIPT_NAMES, scriptSource } from '../../packages/board/src/scripts.ts';
import { openTestRedis } from '../support/redis.ts';

test.each(SCRIPT_NAMES)(
  '%s compiles, names no constant or key, and stays far below 200 locals',
  async (name) => {
    await using store = openTestRedis();
    const text = scriptSource(name);
    expect(await store.redis.script('LOAD', text)).toHaveLength(40);
    const bare = text.replace(/'(?:[^'\\\n]|\\.)*'/g, '');
    expect(bare.match(/\b(?!KEYS\b|ARGV\b)[A-Z][A-Z_]{2,}\b|\b[a-z]+Key\b/g) ?? []).toEqual(
      bare.match(/\b(UNITS|STATUS_NAMES)\b/g) ?? [],
    );
    const locals = bare.match(/^local [^=\n]+/gm) ?? [];
    const names = locals.flatMap((line) => (line.startsWith('local function') ? [line] : line.split(',')));
    expect(names.length).toBeLessThan(150);
  },
);
