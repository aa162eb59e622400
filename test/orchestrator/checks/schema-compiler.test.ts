import type { JsonValue } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import {
  createSchemaCompiler,
  type JsonSchema,
} from '../../../packages/orchestrator/src/checks/schema-compiler.ts';
import { problemLine } from '../../../packages/orchestrator/src/checks/schema-problems.ts';

const compiler = createSchemaCompiler();

function linesOf(schema: JsonSchema, value: JsonValue | undefined): string[] {
  return compiler.compile(schema, 'outputSchema')('output', value).map(problemLine);
}

function refusalOf(schema: JsonSchema): unknown {
  try {
    compiler.compile(schema, 'tasks[3].outputSchema');
  } catch (error) {
    return error;
  }
  return 'compiled';
}

function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: 'string' };
  for (let i = 0; i < levels; i++) schema = { not: schema };
  return schema;
}

const PAGE: JsonSchema = {
  type: 'object',
  required: ['file', 'words'],
  properties: {
    file: { type: 'string', pattern: '\\.md$' },
    words: { type: 'integer', minimum: 0 },
    level: { enum: ['low', 'high'] },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
  },
  additionalProperties: false,
};

describe('a value that does not fit', () => {
  it.each<[string, JsonSchema, JsonValue | undefined, string[]]>([
    ['lacks a field', PAGE, { file: 'a.md' }, ['output.words: expected a value, got nothing (add "words")']],
    [
      'has a field too many',
      PAGE,
      { file: 'a.md', words: 1, word: 2 },
      [
        'output.word: expected no such field, got 2 (integer) (leave it out: the fields are file, words, level, tags)',
      ],
    ],
    [
      'has a number in quotes',
      PAGE,
      { file: 'a.md', words: '12' },
      ['output.words: expected integer, got "12" (string) (write the number without quotes)'],
    ],
    [
      'has another word, a number too small and a text of another form',
      PAGE,
      { file: 'a.txt', words: -1, level: 'mid' },
      [
        'output.file: expected match pattern "\\.md$", got "a.txt" (string)',
        'output.words: expected >= 0, got -1 (integer)',
        'output.level: expected one of ["low","high"], got "mid" (string)',
      ],
    ],
    [
      'has a wrong element',
      PAGE,
      { file: 'a.md', words: 1, tags: ['x', 7] },
      ['output.tags[1]: expected string, got 7 (integer) (put it in quotes)'],
    ],
    [
      'is JSON in a text',
      PAGE,
      '{"file": "a.md"}',
      ['output: expected object, got "{\\"file\\": \\"a.md\\"}" (string) (give it as JSON, not as text)'],
    ],
    ['is not there', PAGE, undefined, ['output: expected object, got nothing (give it as "output")']],
    [
      'has a field of an odd name',
      { properties: { 'a b': { const: 1 } } },
      { 'a b': null },
      ['output["a b"]: expected 1, got null'],
    ],
    [
      'has a required name of every object',
      { required: ['toString'] },
      {},
      ['output.toString: expected a value, got nothing (add "toString")'],
    ],
  ])('and %s is told where, what was expected, what came and how to mend it', (_, schema, value, lines) => {
    expect(linesOf(schema, value)).toEqual(lines);
  });

  it('is told at most ten problems of, each cut short', () => {
    const lines = linesOf({ items: { type: 'integer' } }, Array(50).fill('x'.repeat(1000)));
    expect(lines).toHaveLength(10);
    expect(lines.every((line) => line.length < 300)).toBe(true);
  });
});

it('a value that fits has no problems', () => {
  expect(linesOf(PAGE, { file: 'a.md', words: 12, level: 'low', tags: ['x'] })).toEqual([]);
});

it('words of draft 2020-12 count, and those of draft 7 where $schema names it', () => {
  const pair: JsonValue = [{ type: 'string' }, { type: 'integer' }];
  expect(linesOf({ prefixItems: pair }, ['a', 'b'])).toHaveLength(1);
  expect(linesOf({ unevaluatedProperties: false, properties: { a: true } }, { b: 1 })).toHaveLength(1);
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: pair };
  expect(linesOf(draft7, ['a', 'b'])).toHaveLength(1);
  expect(refusalOf({ items: pair })).toMatchObject({ code: 'invalid_argument' });
});

it('schemas of the same $id do not know of each other', () => {
  const $id = 'https://example.org/row';
  expect(linesOf({ $id, type: 'string' }, 1)).toHaveLength(1);
  expect(linesOf({ $id, type: 'integer' }, 1)).toEqual([]);
  expect(refusalOf({ $ref: $id })).toMatchObject({ code: 'invalid_argument' });
});

describe('a schema that can not be used', () => {
  it.each<[string, JsonSchema, RegExp]>([
    ['a type that there is not', { properties: { a: { type: 'strin' } } }, /properties\/a\/type/],
    ['a misspelt word', { requred: ['a'] }, /requred/],
    ['a format that there is not', { format: 'nope' }, /nope/],
    ['a pattern that is none', { pattern: '(' }, /\(/],
    ['a remote reference', { $ref: 'https://example.org/schema.json' }, /example\.org/],
    ['a reference to itself', { $ref: '#' }, /#/],
    ['another draft', { $schema: 'https://example.org/meta' }, /example\.org\/meta/],
    ['a check that waits', { $async: true, type: 'string' }, /\$async/],
    ['too many levels', nested(100), /64 levels/],
    ['100,000 levels', nested(5000), /64 levels/],
    ['too many bytes', { enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) }, /65536 bytes/],
  ])('because of %s is refused with its path and the reason', (_, schema, reason) => {
    expect(refusalOf(schema)).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringMatching(reason),
      extras: { path: 'tasks[3].outputSchema' },
    });
    expect(String(refusalOf(schema))).toContain('tasks[3].outputSchema');
  });
});

it('a pattern that would need years for a value is stopped, and said to be the schema’s fault', () => {
  const before = performance.now();
  const [line] = linesOf({ pattern: '^(a+)+$' }, `${'a'.repeat(60)}b`);
  expect(line).toContain('mend in the schema');
  expect(performance.now() - before).toBeLessThan(30_000);
});

it('a schema of the largest size compiles, and is not compiled again', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 1500 }, (_, i) => [`field${i}`, { type: 'integer' }]),
  );
  const find = compiler.compile({ properties }, 'outputSchema');
  expect(compiler.compile(structuredClone({ properties }), 'elsewhere')).toBe(find);
  expect(find('output', { field1499: 'x' })).toHaveLength(1);
});
