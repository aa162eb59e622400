import type { JsonValue } from '@crewboard/contracts';
import type { ErrorObject } from 'ajv';

/** One way in which a value does not fit its schema, as a model can mend it. */
export interface SchemaProblem {
  /** Such as `output.pages[2].words`. */
  path: string;
  expected: string;
  got: string;
  hint?: string;
}

/** Problems that are told of one value; the rest is counted. */
const TOLD_MOST = 10;
const SHOWN_CHARS = 120;
const NAMES_MOST = 20;

function cut(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}…`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function shown(value: unknown): string {
  const type = typeName(value);
  const text = cut(JSON.stringify(value) ?? 'nothing');
  return type === 'null' || type === 'boolean' ? text : `${text} (${type})`;
}

function step(name: string): string {
  if (/^\d+$/.test(name)) return `[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** A JSON pointer below `root` as people write it. */
function pathOf(root: string, pointer: string): string {
  const names = pointer.split('/').slice(1);
  return root + names.map((name) => step(name.replaceAll('~1', '/').replaceAll('~0', '~'))).join('');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function namesIn(schema: unknown): string {
  const properties = fieldOf(schema, 'properties');
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return cut(names.slice(0, NAMES_MOST).join(', '));
}

/** Where a wrong type is only a matter of quotes. */
function typeHint(expected: string, value: unknown): string | undefined {
  if (typeof value === 'string') {
    const isNumber = /^\s*-?\d+(\.\d+)?\s*$/.test(value);
    if (isNumber && /number|integer/.test(expected)) return 'write the number without quotes';
    if (/^(true|false)$/.test(value) && expected.includes('boolean')) return 'write it without quotes';
    if (/^\s*[[{]/.test(value) && /array|object/.test(expected)) return 'give it as JSON, not as text';
  }
  return expected.includes('string') && typeof value !== 'string' ? 'put it in quotes' : undefined;
}

/** The property that an error is about although it stands at the object, if it is of that kind. */
function missingIn({ params }: ErrorObject): string | undefined {
  const name = fieldOf(params, 'missingProperty');
  return typeof name === 'string' ? name : undefined;
}

function extraIn({ params }: ErrorObject): string | undefined {
  const name = fieldOf(params, 'additionalProperty') ?? fieldOf(params, 'unevaluatedProperty');
  return typeof name === 'string' ? name : undefined;
}

function expectedBy(error: ErrorObject): string {
  const { keyword, params, message = 'something else' } = error;
  if (keyword === 'type') return [fieldOf(params, 'type')].flat().join(' or ');
  if (keyword === 'enum') return `one of ${cut(JSON.stringify(fieldOf(params, 'allowedValues')))}`;
  if (keyword === 'const') return cut(JSON.stringify(fieldOf(params, 'allowedValue')));
  return message.replace(/^must (be )?/, '');
}

function problemOf(root: string, error: ErrorObject): SchemaProblem {
  const at = pathOf(root, error.instancePath);
  const missing = missingIn(error);
  if (missing !== undefined) {
    return {
      path: at + step(missing),
      expected: 'a value',
      got: 'nothing',
      hint: `add ${JSON.stringify(missing)}`,
    };
  }
  const extra = extraIn(error);
  if (extra !== undefined) {
    const known = namesIn(error.parentSchema);
    return {
      path: at + step(extra),
      expected: 'no such field',
      got: shown(fieldOf(error.data, extra)),
      hint: known === '' ? 'leave it out' : `leave it out: the fields are ${known}`,
    };
  }
  const expected = expectedBy(error);
  const hint = error.keyword === 'type' ? typeHint(expected, error.data) : undefined;
  return { path: at, expected, got: shown(error.data), ...(hint === undefined ? {} : { hint }) };
}

/** What Ajv found wrong with the value that is called `root`, most useful first and bounded. */
export function problemsOf(root: string, errors: readonly ErrorObject[]): SchemaProblem[] {
  return errors.slice(0, TOLD_MOST).map((error) => problemOf(root, error));
}

/** The problem of a value that was not given at all. */
export function nothingGiven(root: string, schema: Readonly<Record<string, JsonValue>>): SchemaProblem {
  const expected = typeof schema.type === 'string' ? schema.type : 'a value';
  return { path: root, expected, got: 'nothing', hint: `give it as "${root}"` };
}

/** A problem as one line. */
export function problemLine({ path, expected, got, hint }: SchemaProblem): string {
  return `${path}: expected ${expected}, got ${got}${hint === undefined ? '' : ` (${hint})`}`;
}
