import { z } from 'zod';

const JsonSchema = z.looseObject({
  type: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  examples: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  multipleOf: z.number().positive().optional(),
  minItems: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  format: z.string().optional(),
});
type JsonSchema = z.infer<typeof JsonSchema>;

/** Deeper levels of an example help nobody. */
const MAX_DEPTH = 4;
const ITEMS_MOST = 10;
const TEXT_MOST = 200;

const OF_FORMAT: ReadonlyMap<string, string> = new Map([
  ['email', 'name@example.com'],
  ['uri', 'https://example.com/'],
  ['uuid', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
  ['date-time', '2025-01-31T12:00:00Z'],
  ['date', '2025-01-31'],
  ['time', '12:00:00'],
  ['duration', 'PT1H'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
]);

function ofObject(schema: JsonSchema, depth: number): Record<string, unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const named = fields.filter(([key]) => schema.required?.includes(key) ?? false);
  return Object.fromEntries(named.map(([key, inner]) => [key, exampleOf(inner, depth + 1)]));
}

function ofArray({ items, minItems = 1 }: JsonSchema, depth: number): unknown[] {
  if (depth >= MAX_DEPTH || items === undefined) return [];
  return Array.from({ length: Math.min(Math.max(1, minItems), ITEMS_MOST) }, () =>
    exampleOf(items, depth + 1),
  );
}

function ofNumber({ minimum, exclusiveMinimum, maximum, multipleOf }: JsonSchema): number {
  const least = Math.max(
    minimum ?? Number.NEGATIVE_INFINITY,
    exclusiveMinimum === undefined ? Number.NEGATIVE_INFINITY : exclusiveMinimum + 1,
  );
  const plain = Math.min(Math.max(1, least), maximum ?? Number.POSITIVE_INFINITY);
  return multipleOf === undefined ? plain : Math.ceil(plain / multipleOf) * multipleOf;
}

function ofString({ format, minLength = 0, maxLength = TEXT_MOST }: JsonSchema): string {
  const long = 'text '
    .repeat(Math.ceil(Math.min(minLength, TEXT_MOST) / 5))
    .slice(0, minLength)
    .trimEnd();
  const text = long.length < 4 ? 'text' : long.padEnd(Math.min(minLength, TEXT_MOST), '.');
  return OF_FORMAT.get(format ?? '') ?? text.slice(0, maxLength);
}

function ofType(schema: JsonSchema, depth: number): unknown {
  switch (schema.type) {
    case 'object':
      return ofObject(schema, depth);
    case 'array':
      return ofArray(schema, depth);
    case 'integer':
    case 'number':
      return ofNumber(schema);
    case 'boolean':
      return true;
    case 'string':
      return ofString(schema);
    default:
      return 'any JSON';
  }
}

/**
 * Returns a small value of the shape that a JSON Schema asks for: required fields only. A guess where the schema has
 * rules that have no example, such as a pattern: whoever sends it asks the schema first.
 */
export function exampleOf(jsonSchema: unknown, depth = 0): unknown {
  const parsed = JsonSchema.safeParse(jsonSchema);
  if (!parsed.success) return 'any JSON';
  const schema = parsed.data;
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0];
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  return choice !== undefined && depth < MAX_DEPTH ? exampleOf(choice, depth + 1) : ofType(schema, depth);
}
