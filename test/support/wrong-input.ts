import fc from 'fast-check';
import { z } from 'zod';

/** Values of every kind, some right for most fields of the project. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    'zzz',
    '',
    't_4kx9m2ab',
    'add',
    5,
    0,
    -1,
    1.5,
    true,
    null,
    [],
    {},
    '[]',
    '{"a":1}',
  ),
  fc.constant([{ op: 'add', titel: 'A' }]),
  fc.constant([{ title: 'A', dependsOn: [7] }, { colour: 1 }]),
  fc.string({ maxLength: 30 }),
);

/** Inputs for `schema` by its own field names, misspelt and foreign ones among them: few of them are right. */
export function wrongInputs(schema: z.ZodType): fc.Arbitrary<Record<string, unknown>> {
  const { properties } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const names = Object.keys(properties ?? {});
  const misspelt = names.map((name) => name.slice(0, -1)).filter((name) => name !== '');
  const fields = [...names, ...misspelt, 'colour'].map((name) => [name, value] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}
