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
  minItems: z.number().optional(),
  pattern: z.string().optional(),
});
type JsonSchema = z.infer<typeof JsonSchema>;

/** Deeper levels of an example help nobody. */
const MAX_DEPTH = 4;

function ofObject(schema: JsonSchema, depth: number): Record<string, unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const named = fields.filter(([key]) => schema.required?.includes(key) ?? false);
  return Object.fromEntries(named.map(([key, inner]) => [key, exampleOf(inner, depth + 1)]));
}

function ofType(schema: JsonSchema, depth: number): unknown {
  switch (schema.type) {
    case 'object':
      return ofObject(schema, depth);
    case 'array':
      return depth < MAX_DEPTH && schema.items !== undefined ? [exampleOf(schema.items, depth + 1)] : [];
    case 'integer':
    case 'number':
      return Math.max(
        1,
        schema.minimum ?? 1,
        schema.exclusiveMinimum === undefined ? 1 : schema.exclusiveMinimum + 1,
      );
    case 'boolean':
      return true;
    case 'string':
      return schema.pattern === undefined ? 'text' : `text that matches ${schema.pattern}`;
    default:
      return 'any JSON';
  }
}

/** Returns a small value of the shape that a JSON Schema asks for: required fields only. */
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
