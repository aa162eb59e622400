import { z } from 'zod';

/** Texts that are no name of anything, for paths and queries. */
export const wrongWords: readonly string[] = [
  'x',
  '-1',
  '0',
  '99999999999999999999',
  'job_',
  'job_UPPERCASE999',
  '../../etc/passwd',
  'a\u0000b',
  '\u202Eevil',
  '😀'.repeat(20),
  "'; DROP TABLE jobs; --",
  '{}',
  'x'.repeat(1000),
];

/** Bodies that are no JSON object of any kind. */
export const wrongTexts: readonly { body: string; type: string }[] = [
  { body: '', type: 'application/json' },
  { body: '{', type: 'application/json' },
  { body: '{"a":1}trailing', type: 'application/json' },
  { body: '[1]', type: 'application/json' },
  { body: 'null', type: 'application/json' },
  { body: '"text"', type: 'application/json' },
  { body: '\uFEFF{', type: 'application/json' },
  { body: '\uFEFF\uFEFF{}', type: 'application/json' },
  { body: `${'['.repeat(20_000)}`, type: 'application/json' },
  { body: '{"__proto__":{"a":1}}', type: 'application/json' },
  { body: '{}', type: 'text/plain' },
  { body: 'a=1', type: 'application/x-www-form-urlencoded' },
  { body: '{}', type: 'application/json; charset=utf-16' },
  { body: `{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`, type: 'application/json' },
];

/** JSON values of every kind, as they stand in a body: texts that no JSON writer makes are among them. */
const VALUES: readonly string[] = [
  'null',
  'true',
  '-1',
  '0',
  '1.5',
  '1e308',
  '99999999999999999999999',
  '""',
  '" "',
  '"x"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e\\u200b"',
  '"😀"',
  JSON.stringify('x'.repeat(100_000)),
  '[]',
  '[null]',
  '["x","x"]',
  '{}',
  '{"x":{"y":[{"z":null}]}}',
  `${'['.repeat(60)}1${']'.repeat(60)}`,
  '"{\\"a\\":1}"',
];

const Resolved = z.looseObject({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** The schema behind a reference within `document`; of several ways the first that has fields. */
function resolved(document: object, schema: unknown): z.infer<typeof Resolved> {
  const here = Resolved.parse(schema);
  const name = /^#\/components\/schemas\/(.+)$/.exec(here.$ref ?? '')?.[1];
  if (name !== undefined) {
    const { components } = z
      .looseObject({ components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }) })
      .parse(document);
    return resolved(document, components.schemas[name]);
  }
  const ways = here.anyOf?.map((way) => resolved(document, way)) ?? [];
  return ways.find(({ properties }) => properties !== undefined) ?? here;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON of `fields` with the raw text `value` at `name`. */
function withRaw(fields: Record<string, unknown>, name: string, value: string): string {
  const { [name]: _, ...others } = fields;
  const text = JSON.stringify(others).slice(1, -1);
  return `{${text}${text === '' ? '' : ','}${JSON.stringify(name)}:${value}}`;
}

/**
 * Bodies near a valid one, as JSON texts: each field with values of other kinds, left out, misspelt, and one that is not
 * known. Of fields that hold fields, the inner ones likewise. Some of them are valid after all.
 */
export function wrongBodies(document: object, schema: object, example: unknown): string[] {
  const base = isFields(example) ? example : {};
  const { properties = {} } = resolved(document, schema);
  const bodies = [withRaw(base, 'colour', '1'), '{}'];
  for (const [name, inner] of Object.entries(properties)) {
    for (const value of VALUES) bodies.push(withRaw(base, name, value));
    const { [name]: given, ...others } = base;
    if (given !== undefined) bodies.push(JSON.stringify(others));
    bodies.push(withRaw(base, `${name}x`, '1'));
    const innerSchema = resolved(document, inner);
    if (innerSchema.properties === undefined) continue;
    for (const innerName of Object.keys(innerSchema.properties)) {
      for (const value of VALUES) {
        const filled = withRaw(isFields(given) ? given : {}, innerName, value);
        bodies.push(withRaw(base, name, filled));
      }
    }
  }
  return bodies;
}
