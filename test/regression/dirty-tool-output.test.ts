import { expect, test } from 'vitest';
import type { MessagesRequest } from '../support/scripted-messages-api.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { folderWith, openScriptedStack, ownTask, repliesIn, type ScriptedStack, titleOf } from './support.ts';

/** Characters of one answer of read_file at most. */
const PAGE = 50_000;
/** Characters of any one tool result at most. */
const CAP = 110_000;

const refIn = (text: string) => /\ba_[0-9a-f]{20}\b/.exec(text)?.[0] ?? '';

async function downloaded({ local }: ScriptedStack, jobId: string, ref: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await local.client.artifacts.download(jobId, ref)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

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
  const [raw = '', cut] = lastResults(body).map(({ text }) => text);
  const [header, shown, note] = raw.split('\n');
  expect(shown).toBe('\ufffd\ufffd\ufffd');
  expect(header).toContain('3 bytes');
  const ref = refIn(note ?? '');
  const bytes = await downloaded(stack, job.id, ref);
  expect(bytes).toEqual(Buffer.of(0xff, 0xfe, 0x00));
  // Of what the model was shown, and not one of the task's results.
  expect(await stack.local.client.artifacts.list(job.id)).toMatchObject({ artifacts: [] });
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

/** 65,000 bytes, and an emoji at every third place. */
const OUTPUT = 'a😀'.repeat(13_000);

/** Four tasks with an output each, and three that look at all of them: their IDs shift the text by one unit each. */
function scriptOf(request: MessagesRequest) {
  const taskId = ownTask(request);
  const title = titleOf(request);
  const submit = (output: unknown) => reply([toolUse('board_submit', { taskId, summary: 'done', output })]);
  if (title === 'Part') return submit(OUTPUT);
  if (repliesIn(request) === 0) {
    return reply([toolUse('board_get', { taskId, include: ['dependencies'] }, 'get')]);
  }
  const last = lastResults(request)[0]?.text ?? '';
  if (repliesIn(request) > 1) return submit('read');
  const end = Number(/from offset (\d+)\]$/.exec(last)?.[1]);
  return reply([toolUse('read_artifact', { ref: refIn(last.slice(-200)), offset: end }, 'rest')]);
}

test('an emoji at the size cap is not parted, and what was cut is read on from where it ends', async () => {
  await using api = await startScriptedApi(scriptOf);
  await using stack = await openScriptedStack(api);
  const parts = [1, 2, 3, 4].map((n) => ({ key: `p${n}`, title: 'Part' }));
  const dependsOn = parts.map(({ key }) => key);
  const looking = ['Look', 'Look.', 'Look..'].map((title) => ({ title, dependsOn }));
  const { job, tasks, journals } = await stack.run({ tasks: [...parts, ...looking] });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 7, completed: 7 } });
  const ends: number[] = [];
  for (const { id } of tasks.slice(4)) {
    const results = (journals.get(id) ?? []).filter((entry) => entry.kind === 'tool.result');
    const [cut = '', rest = ''] = results.map(({ content }) => content);
    const [, end, of] = /\[showing (\d+) of (\d+) characters; read_artifact /.exec(cut.slice(-200)) ?? [];
    ends.push(Number(end));
    const whole = cut.slice(0, Number(end)) + rest.slice(rest.indexOf('\n') + 1);
    expect(cut.isWellFormed() && rest.isWellFormed()).toBe(true);
    expect(whole).toHaveLength(Number(of));
    const { dependencies } = JSON.parse(whole);
    expect(dependencies.map(({ output }: { output: string }) => output === OUTPUT)).toEqual([
      true,
      true,
      true,
    ]);
    const text = (await downloaded(stack, job.id, refIn(cut.slice(-200)))).toString();
    expect(text).toBe(whole);
  }
  expect(ends.sort()).toEqual([CAP - 1, CAP, CAP]);
});
