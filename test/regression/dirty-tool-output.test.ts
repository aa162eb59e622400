import { expect, test } from 'vitest';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { folderWith, openScriptedStack, ownTask, repliesIn } from './support.ts';

/** Characters of one answer of read_file at most. */
const PAGE = 50_000;

test('bytes that are no text are shown cleaned, once, and a page never ends inside a character', async () => {
  const emoji = `${'x'.repeat(PAGE - 1)}😀 and on`;
  await using folder = await folderWith({ 'raw.bin': Uint8Array.of(0xff, 0xfe, 0x00), 'emoji.txt': emoji });
  await using api = await startScriptedApi((request) =>
    repliesIn(request) === 0
      ? reply([
          toolUse('read_file', { path: 'raw.bin' }, 'raw'),
          toolUse('read_file', { path: 'emoji.txt' }, 'emoji'),
        ])
      : reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]),
  );
  await using stack = await openScriptedStack(api, { workspaces: [folder.path] });
  const { job, tasks, journals } = await stack.run({
    workspace: { path: folder.path },
    tasks: [{ title: 'Read' }],
  });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 1, completed: 1 } });
  const body = api.requests[1]?.body;
  if (body === undefined) throw new Error('no second request');
  const [raw, cut] = lastResults(body).map(({ text }) => text);
  expect(raw?.split('\n')[1]).toBe('\ufffd\ufffd\ufffd');
  expect(raw?.split('\n')[0]).toContain('3 bytes');
  expect(cut?.split('\n')[1]).toBe('x'.repeat(PAGE - 1));
  expect(cut?.split('\n')[0]).toContain(`characters 0-${PAGE - 1} of ${emoji.length}`);
  // The journal holds what the model saw: cleaned at the one intake, not again on the way out.
  const kept = (journals.get(tasks[0]?.id ?? '') ?? []).filter((entry) => entry.kind === 'tool.result');
  // Both run at once, so the journal has them in the order in which they ended.
  expect(new Map(kept.map(({ toolUseId, content }) => [toolUseId, content]))).toEqual(
    new Map([
      ['raw', raw],
      ['emoji', cut],
    ]),
  );
});
