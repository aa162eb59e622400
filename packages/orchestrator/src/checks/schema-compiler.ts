import { CrewboardError, type JsonValue, utf8Bytes } from '@crewboard/contracts';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { callWithin, isCallTimeout } from './bounded-call.ts';
import { nothingGiven, problemsOf, type SchemaProblem } from './schema-problems.ts';

export type JsonSchema = Readonly<Record<string, JsonValue>>;

/** What of a value called `root` does not fit; empty when it does. Never throws. */
export type FindProblems = (root: string, value: JsonValue | undefined) => SchemaProblem[];

/** Makes checks of schemas and remembers the last ones by their text. */
export interface SchemaCompiler {
  /** Throws `invalid_argument` naming `path` for what is no schema, or one that is too large, too deep or remote. */
  compile(schema: JsonSchema, path: string): FindProblems;
}

const SCHEMA_BYTES = 65_536;
const SCHEMA_DEPTH = 64;
const REMEMBERED = 100;
/** A schema of the largest size takes half a second; a machine may be busy. */
const COMPILE_MS = 10_000;
const VALIDATE_MS = 2000;
const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

const OPTIONS: Options = {
  // A word that no draft knows is a slip that would check nothing; the rest of strict mode is style.
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: true,
  // Errors carry the value and the schema around it.
  verbose: true,
  ownProperties: true,
  // Schemas of different tasks may call themselves the same, and none is to be found by another.
  addUsedSchema: false,
  inlineRefs: false,
  logger: false,
};

function refuse(path: string, detail: string, cause?: unknown): never {
  throw new CrewboardError(
    'invalid_argument',
    `${path} ${detail}`,
    { path, fits: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } },
    { cause },
  );
}

/** True when `value` nests deeper than `most`; looks no deeper than that. */
function isDeeper(value: JsonValue, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1));
}

function reasonOf(error: unknown): string {
  if (isCallTimeout(error)) return `took more than ${COMPILE_MS} ms`;
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^schema is invalid: data\/?/, '').slice(0, 500);
}

function finderOf(validate: ValidateFunction, schema: JsonSchema): FindProblems {
  return (root, value) => {
    if (value === undefined) return [nothingGiven(root, schema)];
    try {
      const fits = callWithin(VALIDATE_MS, () => validate(value) === true);
      return fits ? [] : problemsOf(root, validate.errors ?? []);
    } catch (error) {
      const got = isCallTimeout(error)
        ? `a value that takes more than ${VALIDATE_MS} ms to check, which is for people to mend in the schema`
        : `a value that the schema can't be applied to: ${reasonOf(error)}`;
      return [{ path: root, expected: 'what fits the schema', got }];
    }
  };
}

/** Makes a compiler that remembers nothing yet. Draft 2020-12, or draft 7 where `$schema` says so. */
export function createSchemaCompiler(): SchemaCompiler {
  const engines = { '2020-12': new Ajv2020(OPTIONS), '7': new Ajv(OPTIONS) };
  for (const engine of Object.values(engines)) addFormats.default(engine);
  const known = new Map<string, FindProblems>();

  function compileNew(schema: JsonSchema, path: string): FindProblems {
    if (schema.$async !== undefined) refuse(path, 'has $async, which checks nothing here');
    const isDraft7 = typeof schema.$schema === 'string' && DRAFT_7.test(schema.$schema);
    const engine = engines[isDraft7 ? '7' : '2020-12'];
    try {
      return finderOf(
        callWithin(COMPILE_MS, () => engine.compile(schema)),
        schema,
      );
    } catch (error) {
      return refuse(path, `is no JSON Schema that can be used: ${reasonOf(error)}`, error);
    } finally {
      // Else the engine keeps every schema that it has seen.
      engine.removeSchema(schema);
    }
  }

  return {
    compile(schema, path) {
      if (isDeeper(schema, SCHEMA_DEPTH)) refuse(path, `nests deeper than ${SCHEMA_DEPTH} levels`);
      const text = JSON.stringify(schema);
      if (utf8Bytes(text) > SCHEMA_BYTES) refuse(path, `has more than ${SCHEMA_BYTES} bytes`);
      const find = known.get(text) ?? compileNew(schema, path);
      // Put in anew, so that the one that was used last stands last.
      known.delete(text);
      known.set(text, find);
      if (known.size > REMEMBERED) {
        const [oldest] = known.keys();
        if (oldest !== undefined) known.delete(oldest);
      }
      return find;
    },
  };
}
