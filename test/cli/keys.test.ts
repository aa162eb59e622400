import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { recordedTerminal } from './support/terminal.ts';

async function run(stack: LocalStack, args: string[], key = API_KEY) {
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: key };
  const code = await runCli(args, terminal, variables);
  return { code, out: terminal.out(), messages: terminal.messages };
}

const ADD = ['keys', 'add', '--name', 'nightly build', '--role', 'submit', '--project', 'default'];

test('add prints the key alone, so that it can be caught, and says the rest aside', async () => {
  await using stack = await openLocalStack({ worker: false });
  const added = await run(stack, ADD);
  expect(added.code).toBe(0);
  expect(added.out).toMatch(/^cb_[2-9a-hjkmnp-z]{12}_[2-9A-Za-z]{24}\n$/);
  expect(added.messages.join('\n')).toMatch(
    /^key_\w{12} \(submit of project default\) is made\. .*\nTake it away with: crewboard keys revoke key_\w{12}$/,
  );
  expect((await run(stack, ['ls'], added.out.trim())).code).toBe(0);
  const refused = await run(stack, ['keys', 'ls'], added.out.trim());
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.messages[0]).toContain('this needs an admin key of all projects');
});

test('ls shows who there is and no key, and revoke takes one away', async () => {
  await using stack = await openLocalStack({ worker: false });
  const key = (await run(stack, ADD)).out.trim();
  const listed = await run(stack, ['keys', 'ls']);
  expect(listed.out).toMatch(/^KEY +ROLE +PROJECT +CREATED +USED +NAME\nenv +admin +\* +/);
  expect(listed.out).toMatch(/\nkey_\w{12} +submit +default +\d+ m?s ago +- +nightly build\n$/);
  expect(listed.out).not.toContain(key);
  const [id = ''] = /key_\w{12}/.exec(listed.out) ?? [];
  const revoked = await run(stack, ['keys', 'revoke', id]);
  expect(revoked).toMatchObject({ code: 0, out: '' });
  expect(revoked.messages).toEqual([`${id} is revoked: nothing takes it any more.`]);
  expect((await run(stack, ['ls'], key)).messages[0]).toContain('does not know this API key');
  const again = await run(stack, ['keys', 'revoke', id]);
  expect(again).toMatchObject({ code: 2 });
  expect(again.messages[0]).toBe(`crewboard: no such key ${id}: \`crewboard keys ls\` lists them`);
});

test('each prints JSON when asked to', async () => {
  await using stack = await openLocalStack({ worker: false });
  const added = await run(stack, [...ADD, '--json']);
  const { id } = JSON.parse(added.out);
  expect(JSON.parse(added.out)).toMatchObject({ name: 'nightly build', key: expect.any(String) });
  expect(added.messages).toEqual([]);
  const { keys } = JSON.parse((await run(stack, ['keys', 'ls', '--json'])).out);
  expect(keys).toHaveLength(2);
  expect(JSON.parse((await run(stack, ['keys', 'revoke', id, '--json'])).out)).toEqual({ id, revoked: true });
});

test('a name that is taken is said to be, with what to do', async () => {
  await using stack = await openLocalStack({ worker: false });
  await run(stack, ADD);
  const again = await run(stack, ADD);
  expect(again).toMatchObject({ code: 2, out: '' });
  expect(again.messages[0]).toContain('there is a key named "nightly build" already');
});

test.each([
  [
    ['keys', 'add', '--name', 'x', '--role', 'root', '--project', 'default'],
    '--role must be one of admin, submit, read, worker, got "root"',
  ],
  [['keys', 'add', '--name', 'x', '--role', 'read', '--project', 'No Such'], '"*" for all'],
  [['keys', 'add', '--name', 'x', '--role', 'read'], '--project'],
  [['keys', 'revoke', 'nightly'], 'must be the ID of a key'],
  [['keys', 'frobnicate'], "unknown command 'frobnicate'"],
])('refuses %j before it asks a server', async (args, says) => {
  const terminal = recordedTerminal();
  expect(await runCli(args, terminal, {})).toBe(2);
  expect(terminal.messages.join('\n')).toContain(says);
});

test('help begins with examples', async () => {
  for (const args of [['keys'], ['keys', 'add'], ['keys', 'ls'], ['keys', 'revoke']]) {
    const terminal = recordedTerminal();
    expect(await runCli([...args, '--help'], terminal, {})).toBe(0);
    expect(terminal.out()).toMatch(/^Examples:\n {2}(?:crewboard|KEY=)/);
  }
});
