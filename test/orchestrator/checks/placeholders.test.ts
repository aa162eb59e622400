import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { JsonValue } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { fillPlaceholders } from '../../../packages/orchestrator/src/checks/placeholders.ts';

const run = promisify(execFile);

async function shell(command: string): Promise<string> {
  return (await run('/bin/sh', ['-c', command])).stdout;
}

function refusalOf(command: string, input: JsonValue | undefined): unknown {
  try {
    return fillPlaceholders(command, input, 'acceptance[0].check.run');
  } catch (error) {
    return error;
  }
}

/** Values that a shell would do something with. */
const HOSTILE = [
  'plain.ts',
  'two words',
  "it's",
  '"; echo pwned; "',
  "'; echo pwned; '",
  '$(echo pwned)',
  '`echo pwned`',
  ['$HOME $', '{PATH} \\n \\'].join(''),
  'a\nb # c',
  '*',
  '-n',
  '!!',
  '{path}',
  '',
];

describe('a value at a placeholder', () => {
  it.each(HOSTILE)('reaches the command as it is, wherever it may stand: %j', async (path) => {
    for (const command of [
      "printf -- '<%s>' {path}",
      'printf -- "<%s>" "{path}"',
      "printf -- '<%s>' '{path}'",
    ]) {
      expect(await shell(fillPlaceholders(command, { path }, 'run'))).toBe(`<${path}>`);
    }
    const within = fillPlaceholders('printf "<%s>" pre"-{path}-"\'={path}=\'{path}', { path }, 'run');
    expect(await shell(within)).toBe(`<pre-${path}-=${path}=${path}>`);
  });

  it('may be a number, true or false', () => {
    expect(fillPlaceholders('x {n} {yes}', { n: 1.5, yes: true }, 'run')).toBe("x '1.5' 'true'");
  });
});

it('braces of the shell stay: expansions, doubled and escaped ones, groups and lists', async () => {
  const command = ['a=1; { echo $', '{a} {{path}} \\{path} {1,2} ; }'].join('');
  expect(await shell(fillPlaceholders(command, {}, 'run'))).toMatch(/^1 \{path\} \{path\} /);
});

describe('a placeholder is refused', () => {
  it.each<[string, string, JsonValue | undefined]>([
    ['whose field is not there', 'x {path}', { file: 'a' }],
    ['without an input', 'x {path}', undefined],
    ['whose input is a list', 'x {path}', ['a']],
    ['whose name every object has', 'x {toString}', {}],
    ['whose value is a list', 'x {path}', { path: ['a'] }],
    ['whose value is null', 'x {path}', { path: null }],
    ['in a comment', 'x # {path}', { path: 'a' }],
    ['behind a comment with a quote', 'x # it\'s\necho "$(cat {path})"', { path: 'a' }],
    ['in double quotes beside a substitution', 'x "$(cat {path})"', { path: 'a' }],
    ['in backquotes', 'x `cat {path}`', { path: 'a' }],
    ['in a here-document', 'cat <<END\n{path}\nEND', { path: 'a' }],
    ['in arithmetic', 'echo $(( {path} ))', { path: 'a' }],
    ['beside quotes with escapes', "echo $'it\\'s {path}'", { path: 'a' }],
  ])('%s, with the field and where the command stands', (_, command, input) => {
    const name = /\{(\w+)\}/.exec(command)?.[1];
    expect(refusalOf(command, input)).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining(`{${name}}`),
      extras: { path: 'acceptance[0].check.run' },
    });
  });
});
