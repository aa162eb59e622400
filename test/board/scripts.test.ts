import { expect, test } from 'vitest';
import { MANY_SCRIPTS, SCRIPT_NAMES, scriptSource } from '../../packages/board/src/scripts.ts';
import { openTestRedis } from '../support/redis.ts';

const FORMS = [
  ...SCRIPT_NAMES.map((name) => [name, 'for one call', false] as const),
  ...MANY_SCRIPTS.map((name) => [name, 'for several calls', true] as const),
];

test.each(FORMS)(
  '%s compiles %s, names no constant or key, and stays far below 200 locals',
  async (name, _, many) => {
    await using store = openTestRedis();
    const text = scriptSource(name, many);
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
