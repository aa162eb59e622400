import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedField } from '../../apps/api/src/repeated-field.ts';
import { AS_ADMIN, openApp } from './open-app.ts';

const repeatedIn = (json: string) => repeatedField(Buffer.from(json), JSON.parse(json));

test.each<[string, (string | number)[]]>([
  ['{"a":1,"a":1}', ['a']],
  ['{"a":{"b":1},"c":[1,{"d":2},{"d":3,"e":[],"d":4}]}', ['c', 2, 'd']],
  ['[[{}],[[], {"x":{"y":0,"z":{},"y":[1]}}]]', [1, 1, 'x', 'y']],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['{"a\\\\":1,"a\\\\":2}', ['a\\']],
  ['{"ä😀":1, "b" : [ 1 , 2 ] , "ä😀" : null}', ['ä😀']],
  ['{"a":{"k":1,"k":2},"a":3}', ['a', 'k']],
  ['{"":1,"":2}', ['']],
  ['{"constructor":1,"constructor":2}', ['constructor']],
])('of %s the first field that stands twice is %j', (json, path) => {
  expect(repeatedIn(json)).toEqual(path);
});

test.each([
  '{}',
  '[]',
  '"a:a"',
  '0',
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":1}]',
  '{"a":"\\"a\\":1,\\"a\\":2"}',
  '{"a":"\\\\","b":"\\\\\\"c:"}',
  '{"a":["a","a",":"],"A":1,"a ":2}',
])('%s has no field twice', (json) => {
  expect(repeatedIn(json)).toBeUndefined();
});

test('no text that a JSON writer makes has a field twice, and one more of any field is found', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.string(), fc.nat(3), (value, name, spaces) => {
      const written = JSON.stringify({ [`x${name}`]: value, last: 1 }, undefined, spaces);
      expect(repeatedIn(written)).toBeUndefined();
      const again = `${written.slice(0, -1)},${JSON.stringify(`x${name}`)}:0}`;
      expect(repeatedIn(again)).toEqual([`x${name}`]);
    }),
  );
});

test('a body with a field twice is refused by its path, and nothing is done', async () => {
  await using app = await openApp();
  const send = async (body: string) => {
    const headers = { ...AS_ADMIN, 'content-type': 'application/json' };
    const answer = await fetch(`${app.url}/v1/jobs`, { method: 'POST', headers, body });
    return { status: answer.status, body: await answer.json() };
  };
  const budget = '{"goal":"x","limits":{"budgetUsd":1,"budgetUsd":1000}}';
  expect(await send(budget)).toMatchObject({
    status: 400,
    body: {
      code: 'invalid_argument',
      path: 'limits.budgetUsd',
      detail: expect.stringContaining('limits.budgetUsd stands twice'),
      next: 'GET /v1/jobs',
    },
  });
  expect(await send('{"tasks":[{"title":"A"},{"title":"B","input":{"k":1,"k":2}}]}')).toMatchObject({
    status: 400,
    body: { path: 'tasks[1].input.k' },
  });
  expect(app.fake.calls).toEqual([]);
  expect((await send('{"goal":"x","limits":{"budgetUsd":1}}')).status).toBe(202);
});
