import { LLMock } from '@copilotkit/aimock';
import { expect, test } from 'vitest';
import { folderWith } from '../regression/support.ts';
import { openLocalStack } from '../support/local-stack.ts';

/** What a request says, as aimock reads it; tool results are messages of role `tool`. */
interface Chat {
  messages: readonly { role: string; content: unknown }[];
}

const texts = ({ messages }: Chat) => JSON.stringify(messages);
const ownTask = (chat: Chat) => /taskId\\*":\\*"(t_\w{8})/.exec(texts(chat))?.[1] ?? '';

test('a job runs to its end on a Messages API of other makers', async () => {
  const mock = new LLMock({ port: 0 });
  await using folder = await folderWith({ 'a.md': 'one two three' });
  mock.on(
    { hasToolResult: false },
    { toolCalls: [{ id: 'toolu_read', name: 'read_file', arguments: { path: 'a.md' } }] },
  );
  mock.on({ hasToolResult: true }, (chat) => ({
    toolCalls: [
      {
        id: 'toolu_submit',
        name: 'board_submit',
        arguments: JSON.stringify({
          taskId: ownTask(chat),
          summary: texts(chat).includes('one two three') ? 'read it' : 'saw nothing',
        }),
      },
    ],
  }));
  await mock.start();
  try {
    await using stack = await openLocalStack({
      provider: { url: mock.url, key: 'mock' },
      workspaces: [folder.path],
    });
    const job = await stack.run({ workspace: { path: folder.path }, tasks: [{ title: 'Read a.md' }] });
    expect(job).toMatchObject({ status: 'succeeded', simulated: false, counts: { total: 1, completed: 1 } });
    const summaries: (string | undefined)[] = [];
    for await (const { summary } of stack.client.jobs.results(job.id)) summaries.push(summary);
    expect(summaries).toEqual(['read it']);
  } finally {
    await mock.stop();
  }
});
