import { isDeepStrictEqual } from 'node:util';
import * as contracts from '@crewboard/contracts';
import { z } from 'zod';

/** A JSON Schema, as far as it is looked at here. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** What of a schema is meant: what callers send, or what they are answered. */
type Direction = 'input' | 'output';

const refOf = (name: string) => `#/components/schemas/${name}`;
/** As a document has them, and as zod writes those of a single schema. */
const REF = /^#\/(?:components\/schemas|\$defs)\/(.+)$/;

/** Calls `see` for every reference within a schema, and puts what it returns in its place. */
function mapRefs(schema: unknown, see: (name: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => mapRefs(item, see));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const name = key === '$ref' && typeof value === 'string' ? REF.exec(value)?.[1] : undefined;
      return [key, name === undefined ? mapRefs(value, see) : refOf(see(name))];
    }),
  );
}

function refsIn(schema: unknown): Set<string> {
  const found = new Set<string>();
  mapRefs(schema, (name) => {
    found.add(name);
    return name;
  });
  return found;
}

/** The schemas of the contracts package by the names of its exports: one home for every shape. `own` go before them. */
function registerContracts(own: Readonly<Record<string, z.ZodType>>) {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ ...contracts, ...own })) {
    if (schema instanceof z.ZodType && !registry.has(schema)) registry.add(schema, { id });
  }
  return registry;
}

/** Without what zod says of the schema as a document of its own. */
function withoutIds(schema: JsonSchema): JsonSchema {
  const { $id: _id, $schema: _schema, id: _name, ...rest } = schema;
  return rest;
}

function convertAll(registry: ReturnType<typeof registerContracts>, io: Direction) {
  const { schemas } = z.toJSONSchema(registry, { io, uri: refOf, unrepresentable: 'any' });
  return new Map(Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema)]));
}

/** Names whose schemas differ between what is sent and what is answered, by themselves or by what they refer to. */
function namesThatDiffer(sent: Map<string, JsonSchema>, answered: Map<string, JsonSchema>): Set<string> {
  const differ = new Set(
    [...sent].flatMap(([name, schema]) => (isDeepStrictEqual(schema, answered.get(name)) ? [] : [name])),
  );
  for (let size = -1; size !== differ.size; ) {
    size = differ.size;
    for (const [name, schema] of sent) {
      if ([...refsIn(schema)].some((ref) => differ.has(ref))) differ.add(name);
    }
  }
  return differ;
}

/** Writes the schemas of routes for a document, and collects the components that they refer to. */
export interface SchemaWriter {
  /** The JSON Schema of `schema`, a reference where it is one of the contracts'. */
  write(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The components that were referred to, by name. */
  components(): Record<string, unknown>;
}

/**
 * Returns a writer over the contracts' schemas (JSON Schema 2020-12, which OpenAPI 3.1 has). `own` are schemas of the
 * document alone, by name; they stand in the place of the contracts' of that name.
 */
export function schemaWriter(own: Readonly<Record<string, z.ZodType>>): SchemaWriter {
  const registry = registerContracts(own);
  const all = { input: convertAll(registry, 'input'), output: convertAll(registry, 'output') };
  const differ = namesThatDiffer(all.input, all.output);
  const nameOf = (name: string, direction: Direction) =>
    direction === 'input' && differ.has(name) ? `${name}Input` : name;
  const used = new Map<string, unknown>();

  function use(schema: unknown, direction: Direction): unknown {
    return mapRefs(schema, (name) => {
      const shown = nameOf(name, direction);
      if (!used.has(shown)) {
        used.set(shown, undefined);
        used.set(shown, use(all[direction].get(name), direction));
      }
      return shown;
    });
  }

  return {
    write(schema, direction) {
      const known = registry.get(schema)?.id;
      if (known !== undefined) return Object(use({ $ref: refOf(known) }, direction));
      const options = { io: direction, metadata: registry, unrepresentable: 'any' } as const;
      const { $defs: _defs, ...own } = z.toJSONSchema(schema, options);
      return Object(use(withoutIds(own), direction));
    },
    components: () => Object.fromEntries([...used].sort(([a], [b]) => a.localeCompare(b))),
  };
}
