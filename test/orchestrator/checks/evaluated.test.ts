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

/** Commands that would run a value, or may: each is a way by which one has come through. */
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
  'echo {p} | xargs rm',
  'echo {p} > x.sh; sh x.sh',
  'sh < {p}',
  'sh {p}',
  '{p} x',
  ['$', 'SHELL -c {p}'].join(''),
  ['"$', 'SHELL" -c {p}'].join(''),
  ['x $', '{p} {p}'].join(''),
  'npx -c {p}',
  'npx --call={p}',
  'make X={p}',
  'make {p}',
  'env {p} x',
  '[[ {p} ]]',
  '[[ {p} -eq 1 ]]',
  'test -v {p}',
  'printf -v {p} x',
  'read {p}',
  'unset {p}',
  '(( {p} ))',
  'echo `echo {p}`',
  'cat <<END\n{p}\nEND',
  'cat <<<{p}',
  'diff <(echo {p}) x',
  'find . -exec {p} x +',
  "find . -name {p} -exec sh -c 'echo {}' ';'",
  'node -p {p}',
  'node -e "1" {p}',
  'perl -pe {p} x',
  "perl -lane 'print' {p}",
  'jq {p} x',
  'ssh host ls {p}',
  'busybox sh -c {p}',
  'case {p} in x) y;; esac',
  'f() { echo {p}; }; f',
  'x=1 y={p} z',
  'x & echo {p}',
  'psql --command {p}',
  'git -c {p} log',
  'bash -{p} x',
  'sed -n s/a/{p}/ x',
];

/** Commands in which the value is nothing but an argument. */
const PASS_IT = [
  'printf %s {p}',
  'printf %s "{p}"',
  "! false && printf %s '{p}' 2>&1 | head -c 1000",
  'timeout 10 printf %s {p} | cat',
  'test -n {p}; printf %s {p} || sh x.sh',
  "printf '%s%s' a{p} '' | tail -c +2",
];

/** Commands that may well be safe, which is not evident; `./check.sh {p}` does the same. */
const WRITTEN_OTHERWISE = [
  'sh -c \'printf %s "$1"\' sh {p}',
  'P={p} ./check.sh',
  "printf %s {p} | sh -c 'cat'",
  "sed -i 's/a/b/' {p}",
  'test "$(echo x)" = x && printf %s {p}',
  'for c in a b; do printf %s {p}; done',
  '(cd x; ./check.sh {p})',
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

  it.each(WRITTEN_OTHERWISE)(
    'is refused where its safety is not evident, with what to do instead: %s',
    (command) => {
      expect(refusalOf(command)).toMatchObject({
        code: 'invalid_argument',
        detail: expect.stringContaining(
          'in a script file, and give the value as its argument, as in ./check.sh {field}',
        ),
      });
    },
  );
});

describe('a value that is a plain argument', () => {
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
    './check.sh {p}',
    'npx vitest run {p}',
    'npx vitest run {p} 2>&1 | tail -20',
    'node --test {p} >/dev/null',
    'grep -r {p} .',
    "grep -e 'x' {p}",
    'test -e {p}',
    'head -c {p} page.md',
    "grep -q 'export' {p}",
    'cd a && ./run.sh {p}',
    'find src -name {p}',
    'curl -fs https://host:1/a/{p}',
    'x --file={p} <in >out',
    'tool {p} > {p}.out',
  ])('is taken for one: %s', (command) => {
    expect(fill(command, 'a b')).toBe(command.replaceAll('{p}', "'a b'"));
  });
});

describe('a value that looks like an option', () => {
  it.each(['node {p}', 'node --check {p}', 'grep x "{p}"', 'rm {p}'])(
    'is refused where it would be one: %s',
    (command) => {
      expect(refusalOf(command, '--eval=x')).toMatchObject({
        code: 'invalid_argument',
        detail: expect.stringMatching(
          /\{p\} can't be quoted safely where "--eval=x" would be an option: .+ -- before it/,
        ),
      });
    },
  );

  it.each(['rm -- {p}', 'rm ./{p}', 'x --file={p}'])('stays where it can be none: %s', (command) => {
    expect(fill(command, '-x')).toContain("'-x'");
  });
});
