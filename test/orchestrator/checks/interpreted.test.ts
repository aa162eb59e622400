import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fillPlaceholders } from '../../../packages/orchestrator/src/checks/placeholders.ts';

const run = promisify(execFile);
const fill = (command: string, p: string) => fillPlaceholders(command, { p }, 'command.run');

function refusalOf(command: string, value = 'x; touch PWN'): unknown {
  try {
    return fill(command, value);
  } catch (error) {
    return error;
  }
}

/** Commands that would run a value, or may. */
const RUN_IT = [
  'sh -c "echo {p}"',
  "bash -lc 'echo {p}'",
  'sh -c {p}',
  "sh -c echo' '{p}",
  'eval {p}',
  'eval "echo {p}"',
  "x=1 eval 'echo {p}'",
  'if true; then eval {p}; fi',
  'true && eval {p}',
  'command eval {p}',
  '. {p}',
  'source {p}',
  "trap 'echo {p}' EXIT",
  "/bin/sh -c 'echo {p}'",
  's"h" -c "echo {p}"',
  's\\h -e -c "echo {p}"',
  'bash -o pipefail -c "echo {p}"',
  'bash -c -o pipefail "echo {p}"',
  'bash --rcfile x -c "echo {p}"',
  'bash \\\n  -c "echo {p}"',
  "env A=1 sh -c 'echo {p}'",
  "exec sh -c 'echo {p}'",
  "nohup nice -n 5 sh -c 'echo {p}'",
  "timeout -k 5 10 sh -c 'echo {p}'",
  "sudo -u root dash -c 'echo {p}'",
  "ls | xargs -n1 sh -c 'echo {p}'",
  "find . -exec sh -c 'echo {p}' \\;",
  '>out sh 2>&1 -c "echo {p}"',
  '(cd x; zsh -ec "echo {p}")',
  'echo "$(date)" "$(sh -c "echo {p}")"',
  'echo "$(echo "{p}")"',
  ['echo "$', '{x:-"{p}"}"'].join(''),
  'echo $[ {p} ]',
  'python3 -c "print({p})"',
  "python3 -Ic 'print({p})'",
  "python3 -c'print({p})'",
  "python3.12 -W error -c 'print({p})'",
  "perl -ne 'print {p}' x",
  "ruby -e 'puts {p}'",
  "node -e 'console.log({p})'",
  "node --input-type=module --eval 'console.log({p})'",
  "node --test --eval='console.log({p})'",
  "node -pe '{p}'",
  "awk '/{p}/' x",
  "awk -F , '{p}' x",
  "sed -n '/{p}/p' x",
  "sed -i -e s/a/b/ -e 's/x/{p}/' x",
  "su nobody -c 'echo {p}'",
  'env -S "sh {p}"',
  // By way of a variable, an input or an argument.
  'x={p}; eval "echo $x"',
  'x={p}; sh -c "echo $x"',
  'for x in {p}; do sh -c "echo $x"; done',
  'sh -c "$(echo {p})"',
  'sh -c $(echo {p})',
  'sh -c \'eval "$1"\' sh {p}',
  'echo {p} | sh',
  'echo {p} | bash -s',
  'echo {p} | (\n sh)',
  'echo {p} | python3 -',
  "echo {p} | xargs -I% sh -c 'echo %'",
  'echo {p} | xargs sh -c',
];

/** Commands in which the value is nothing but an argument. */
const PASS_IT = [
  'sh -c \'printf %s "$1"\' sh {p}',
  'sh -c \'printf %s "$0"\' {p}',
  'bash -o pipefail -c \'printf %s "$1"\' bash {p}',
  'env A=1 timeout 10 sh -ec \'printf %s "$1"\' sh {p}',
  'P={p} sh -c \'printf %s "$P"\'',
  'P={p}; printf %s "$P"',
  "node -e 'process.stdout.write(process.argv[1])' {p}",
  "perl -e 'print $ARGV[0]' {p}",
  "trap 'true' EXIT; printf %s {p}",
  'eval true; printf %s {p}',
  'printf %s {p} | sed s/a/a/',
  'printf %s {p} | sed -n -e p',
  "printf %s {p} | awk '{print $0}' | head -c -1",
  "printf %s {p} | sh -c 'cat'",
  'test "$(echo x)" = x && printf %s {p}',
  'for c in . eval sh; do :; done; printf %s {p} 2>&1 >&1',
  'printf %s {p} || sh -c false',
];

describe('a placeholder where a program runs a text as code', () => {
  it.each(RUN_IT)('is refused: %s', (command) => {
    expect(refusalOf(command)).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringMatching(/^command\.run: \{p\} can't be quoted safely .+: /s),
      extras: { path: 'command.run' },
    });
  });

  it.each(['su -c ', 'sed -e ', 'perl -e ', 'sh ', '"$(x)" '])(
    'is refused in little time in a long command: %s',
    (part) => {
      const startedAt = performance.now();
      const command = `${part.repeat(4000 / part.length)}; eval {p}`;
      expect(refusalOf(command)).toMatchObject({ code: 'invalid_argument' });
      expect(performance.now() - startedAt).toBeLessThan(1000);
    },
  );

  it('is refused with what to do instead', () => {
    expect(refusalOf('bash -c "cat {p}"')).toMatchObject({
      detail: expect.stringContaining(`as in bash -c 'cat "$1"' bash {field}`),
    });
    expect(refusalOf('eval {p}')).toMatchObject({ detail: expect.stringContaining('in a script file') });
  });
});

describe('a value behind the code of an interpreter, or beside it', () => {
  it.each(PASS_IT)('reaches it as it is: %s', async (command) => {
    const folder = await mkdtemp(join(tmpdir(), 'crewboard-interpreted-'));
    const value = 'x; touch PWN; $(touch PWN) `touch PWN` \'"';
    const { stdout } = await run('/bin/sh', ['-c', fill(command, value)], { cwd: folder });
    expect(stdout).toBe(value);
    expect(existsSync(join(folder, 'PWN'))).toBe(false);
    await rm(folder, { recursive: true });
  });

  it.each([
    'node {p}',
    'python3 {p} x',
    'bash x.sh {p}',
    'npx vitest run {p}',
    'python3 -m pytest -c x {p}',
    'node --test {p}',
    'grep -r {p} .',
    'cd a && ./run.sh {p}',
    "sed -i 's/a/b/' {p}",
    'sed -f x.sed {p}',
    'awk -f x.awk {p}',
    'npm test -- -c {p}',
    'git -c a=b log {p}',
    'gcc -c {p} -o x.o',
  ])('is taken for a path: %s', (command) => {
    expect(fill(command, 'a b')).toBe(command.replace('{p}', "'a b'"));
  });
});

describe('a value that looks like an option', () => {
  it.each([
    'node {p}',
    'node --check {p}',
    'python3 "{p}"',
    "perl -e 'print 1' {p}",
    'bash -{p} x',
    'sed -n {p}',
  ])('is refused where an interpreter would take it as one: %s', (command) => {
    expect(refusalOf(command, '--eval=x')).toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining("{p} can't be quoted safely"),
    });
  });

  it.each(['rm -- {p}', 'node x.js {p}', 'sh -c \'echo "$1"\' sh {p}', 'node -- x {p}'])(
    'stays where it can be none of an interpreter: %s',
    (command) => {
      expect(fill(command, '-x')).toContain("'-x'");
    },
  );
});
