import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { API_KEY, openLocalStack } from '../support/local-stack.ts';
import { readmeExample } from './readme.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const README = new URL('../../packages/client/README.md', import.meta.url);

function runExample(code: string, env: Record<string, string>) {
  const flags = ['--conditions=@crewboard/source', '--import', 'tsx', '--input-type=module', '--eval', code];
  return run(process.execPath, flags, { cwd: root, env });
}

test('the example has about twenty lines, and runs as it stands', async () => {
  await using stack = await openLocalStack();
  const code = await readmeExample(README);
  expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(24);
  const { stdout, stderr } = await runExample(code, { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: API_KEY });
  const lines = stdout.trimEnd().split('\n');
  expect(stderr).toBe('');
  expect(lines).toContain('job.submitted ');
  expect(lines.filter((line) => line.startsWith('task.completed t_'))).toHaveLength(2);
  expect(lines).toContainEqual(expect.stringMatching(/^Write the report completed \S/));
  expect(lines.at(-1)).toBe('succeeded: 2 of 2 tasks');
});

test('the example says what to do when the key is wrong', async () => {
  await using stack = await openLocalStack({ worker: false });
  const code = await readmeExample(README);
  const { stdout, stderr } = await runExample(code, {
    CREWBOARD_URL: stack.url,
    CREWBOARD_API_KEY: 'no-such-key-0123456789',
  });
  expect(stdout).toBe('');
  expect(stderr).toContain('A valid key is needed');
});
