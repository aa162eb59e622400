import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

it('the agent of the example shows its checklist, counts and answers; run again, it asks nothing', async () => {
  const todo = (status: string) => ({ todos: [{ content: 'Count the words', status }] });
  await using api = await startScriptedApi([
    reply([
      toolUse('todo_write', todo('in_progress')),
      toolUse('count_words', { text: 'the quick brown fox' }),
    ]),
    reply([toolUse('todo_write', todo('completed')), toolUse('finish', { answer: '4 words' })]),
  ]);
  const dir = await mkdtemp(join(tmpdir(), 'crewboard-example-'));
  try {
    const args = [
      '--conditions=@crewboard/source',
      '--import',
      'tsx',
      'examples/agent.ts',
      join(dir, 'a.jsonl'),
      api.url,
      'key',
    ];
    const first = await run(process.execPath, args, { cwd: root });
    const lines = first.stdout.trim().split('\n');
    expect(lines.slice(0, -1)).toEqual([
      'Todos (0/1 completed)',
      '[>] Count the words',
      'Todos (1/1 completed)',
      '[x] Count the words',
      '4 words',
    ]);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'done', turns: 2 });
    const second = await run(process.execPath, args, { cwd: root });
    expect(second.stdout.trim().split('\n')).toEqual(lines.slice(-2));
    expect(api.requests).toHaveLength(2);
    expect(JSON.stringify(api.requests[1]?.body.messages)).toContain('"content":"4"');
  } finally {
    await rm(dir, { recursive: true });
  }
});
