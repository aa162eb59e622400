import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createArtifactSweeper } from '@crewboard/orchestrator';
import { createFileArtifactStore } from '@crewboard/tools';
import { expect, test, vi } from 'vitest';
import { ownTask, repliesIn, titleOf } from '../regression/support.ts';
import { textOf } from '../support/artifacts.ts';
import { openLocalStack } from '../support/local-stack.ts';
import {
  lastResults,
  type MessagesRequest,
  offersTool,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';

const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const NEVER = new AbortController().signal;

test('a worker killed between file and commit: nothing shows, the file is swept, and the call is made good', {
  timeout: 120_000,
}, async () => {
  await using stack = await openStack({
    answer(request) {
      const taskId = ownTask(request);
      const content =
        repliesIn(request) === 0
          ? [toolUse('write_artifact', { path: 'out/report.md', content: 'all is well' }, 't1')]
          : [toolUse('board_submit', { taskId, summary: 'done', artifacts: ['out/report.md'] }, 't2')];
      return { content, stopReason: 'tool_use', usage: USAGE };
    },
  });
  const victim = await stack.startWorker();
  const committing = victim.wire.freezeAt({ words: /\r\nout\/report\.md\r\n/, when: 'before' });
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'Report' }] });
  await committing;
  await victim.kill();

  const root = join(stack.dataDir, 'artifacts');
  expect(await readdir(join(root, id))).toHaveLength(1);
  expect(await stack.client.artifacts.list(id)).toMatchObject({ artifacts: [] });
  const artifacts = createFileArtifactStore(root);
  const sweeper = createArtifactSweeper({ boards: stack.boards, artifacts, log: SILENT, orphanMs: 0 });
  expect(await sweeper.sweepJob(id, NEVER)).toBe(1);
  expect(await readdir(join(root, id))).toEqual([]);

  await stack.startWorker();
  expect(await stack.untilEnded(id)).toMatchObject({ status: 'succeeded' });
  expect(await textOf(await stack.client.artifacts.download(id, 'out/report.md'))).toBe('all is well');
  // To a sweeper this impatient the journal that is just being stored has no owner.
  const outbox = stack.boards.keys.board(id, 'outbox');
  await vi.waitUntil(async () => (await stack.store.redis.xlen(outbox)) === 0, 30_000);
  expect(await sweeper.sweepJob(id, NEVER)).toBe(0);
  expect(stack.model.requests).toHaveLength(2);
  expect(stack.model.violations).toEqual([]);
});

/** A lead that reads what its sub-agents wrote, and they what those before them wrote. */
function story(request: MessagesRequest) {
  const told = JSON.stringify(request.messages);
  const refs = [...told.matchAll(/\ba_[0-9a-f]{20}\b/g)].map(([ref]) => ref);
  const isLead = offersTool(request, 'finish_job');
  const turn = repliesIn(request);
  if (isLead) {
    if (turn === 0) {
      const ops = [
        { op: 'add', key: 'w', title: 'Write' },
        { op: 'add', key: 'r', title: 'Revise', dependsOn: ['w'] },
      ];
      return reply([toolUse('board_plan', { ops })]);
    }
    if (!told.includes('"allSettled\\":true')) return reply([toolUse('board_wait', {})]);
    const last = lastResults(request)[0]?.text ?? '';
    if (!last.includes('the final text')) return reply([toolUse('read_artifact', { ref: 'text.md' })]);
    return reply([toolUse('finish_job', { summary: 'done' })]);
  }
  const taskId = ownTask(request);
  const submit = { taskId, summary: 'done' };
  if (titleOf(request) === 'Write') {
    const draft = { path: 'draft.md', content: 'the draft' };
    if (turn === 0) return reply([toolUse('write_artifact', draft)]);
    const evidence = [{ kind: 'artifact', ref: refs.at(-1) }];
    return reply([toolUse('board_submit', { ...submit, evidence })]);
  }
  if (turn === 0) return reply([toolUse('read_artifact', { ref: refs[0] })]);
  const final = { path: 'text.md', content: 'the final text' };
  if (turn === 1) return reply([toolUse('write_artifact', final)]);
  return reply([toolUse('board_submit', { ...submit, artifacts: ['text.md'] })]);
}

test('files go from task to task, to the lead and to people', async () => {
  await using api = await startScriptedApi(story);
  await using stack = await openLocalStack({ provider: { url: api.url, key: 'test-provider-key' } });
  const job = await stack.run({ goal: 'Write a text' });
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: 2 } });
  const { artifacts } = await stack.client.artifacts.list(job.id);
  expect(artifacts.map(({ path }) => path)).toEqual(['draft.md', 'text.md']);
  const { tasks } = await stack.client.tasks.list(job.id);
  const [write, revise] = tasks;
  expect(write?.result?.artifacts).toEqual([artifacts[0]?.ref]);
  expect(revise?.result?.artifacts).toEqual([artifacts[1]?.ref]);
  const whole = await stack.client.tasks.get(job.id, write?.id ?? '');
  expect(whole.evidence).toEqual([{ kind: 'artifact', ref: artifacts[0]?.ref }]);
  const results = api.requests.flatMap(({ body }) => lastResults(body).map(({ text }) => text));
  expect(results).toContain('draft.md · characters 0-9 of 9 · 9 bytes\nthe draft');
  // The lead's news names what each task submitted.
  const news = results.find((text) => text.includes('"news"')) ?? '';
  for (const { ref } of artifacts) expect(news).toContain(ref);
});

test('the tools of all siblings stand in one order, with those for artifacts among them', async () => {
  await using api = await startScriptedApi((request) =>
    reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]),
  );
  await using stack = await openLocalStack({ provider: { url: api.url, key: 'test-provider-key' } });
  await stack.run({ tasks: [{ title: 'A' }, { title: 'B' }] });
  const orders = api.requests.map(({ body }) => (body.tools ?? []).map(({ name }) => name));
  expect(orders[0]).toEqual(orders[1]);
  expect(orders[0]).toEqual(expect.arrayContaining(['read_artifact', 'write_artifact']));
});
