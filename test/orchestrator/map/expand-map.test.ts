import type { JsonValue, NewTask } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { expandMap } from '../../../packages/orchestrator/src/map/expand-map.ts';

const expand = (items: JsonValue[], task: NewTask, tasks: NewTask[] = []) =>
  expandMap({ items, task }, tasks);

describe('a map', () => {
  it('makes a task an item in their order, behind the given tasks, with the item as input', async () => {
    const items = [
      { id: 7, name: 'Ann', ok: true },
      { id: 'b', name: '$& "x"', ok: false },
    ];
    const given = { title: 'First' };
    const template = {
      title: '{name}: {ok}',
      key: 'row-{id}',
      instructions: 'Fill {name}',
      labels: ['{id}'],
    };
    expect(await expand(items, template, [given])).toEqual([
      given,
      { title: 'Ann: true', key: 'row-7', instructions: 'Fill Ann', labels: ['{id}'], input: items[0] },
      {
        title: '$& "x": false',
        key: 'row-b',
        instructions: 'Fill $& "x"',
        labels: ['{id}'],
        input: items[1],
      },
    ]);
  });

  it('knows fields by names of any script', async () => {
    const [task] = await expand([{ größe: 3, 名: 'x' }], { title: '{größe}', key: 'k-{名}' });
    expect(task).toMatchObject({ title: '3', key: 'k-x' });
    await expect(expand([{ a: 1 }], { title: '{ü}' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: no template, the text itself is meant
  it('takes doubled braces for braces, and puts in no placeholder that stands in a value', async () => {
    const [task] = await expand([{ a: '{b}', b: 'no' }], { title: '{{a}} {a} { a } {"a": 1} ${a}' });
    expect(task?.title).toBe('{a} {b} { a } {"a": 1} ${b}');
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

  it('takes items that are no objects as inputs of tasks that name no field', async () => {
    const items = ['a.md', 3, null, ['x'], true];
    expect((await expand(items, { title: 'Look' })).map(({ input }) => input)).toEqual(items);
  });

  it.each<[string, JsonValue, string]>([
    [
      'is not there',
      { id: 1, other: 2 },
      'map.items[1] has no field "name", which {name} in map.task.title names. It has id, other',
    ],
    ['belongs to the prototype alone', { toString: 1 }, 'map.items[1] has no field "name"'],
    ['is null', { name: null }, 'map.items[1] has null as its field "name"'],
    ['is an object', { name: {} }, 'map.items[1] has an object as its field "name"'],
    ['is asked of a text', 'Ann', 'it is a string. Write each item as an object'],
  ])('is refused naming item and field when a field %s', async (_, item, words) => {
    const error = await expand([{ name: 'x' }, item], { title: '{name}' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining(words),
      extras: { path: 'map.items[1].name', index: 1, field: 'name' },
    });
  });

  it.each([
    ['items', [{ id: 1 }, { id: 2 }, { id: 1 }], 'map.items[0] and map.items[2] both have the key "k1"'],
    [
      'a given task and an item',
      [{ id: 2 }, { id: 'given' }],
      'tasks[0] and map.items[1] both have the key "kgiven"',
    ],
  ])('is refused when %s have one key, naming both', async (_, items, words) => {
    const tasks = [{ title: 'G', key: 'kgiven' }];
    await expect(expand(items, { title: 'T', key: 'k{id}' }, tasks)).rejects.toMatchObject({
      code: 'duplicate_key',
      detail: expect.stringContaining(words),
    });
  });

  it.each([
    ['title', 'x'.repeat(201), 'must be at most 200 characters'],
    ['title', ' ', 'must not be blank'],
    ['key', 't_4kx9m2ab', 'must not look like a task or job ID'],
    ['instructions', 'x'.repeat(16_385), 'must be at most 16384 bytes'],
  ] as const)('is refused when an item makes a %s that none may be', async (name, value, words) => {
    const template = { title: 'T', [name]: '{v}' };
    await expect(expand([{ v: 'good' }, { v: value }], template)).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringMatching(new RegExp(`map\\.items\\[1\\].*${name}.*${words}`)),
      extras: { path: `map.task.${name}`, index: 1 },
    });
  });

  it('is refused with an input of its own', async () => {
    await expect(expand([1], { title: 'T', input: 2 })).rejects.toMatchObject({
      extras: { path: 'map.task.input' },
    });
  });

  it('of 100,000 items leaves the process to others, and one too large in all is refused before it is made', async () => {
    const items = Array.from({ length: 100_000 }, (_, id) => ({ id }));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const tasks = await expand(items, { title: 'Row {id}', key: '{id}', instructions: 'Do {id}' });
    clearInterval(timer);
    expect(tasks).toHaveLength(100_000);
    expect(tasks.at(-1)).toMatchObject({ title: 'Row 99999', key: '99999' });
    expect(turns).toBeGreaterThan(2);
    await expect(expand(items, { title: 'T', instructions: 'x'.repeat(16_000) })).rejects.toMatchObject({
      code: 'limit_exceeded',
    });
  });
});
