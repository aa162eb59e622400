import { expect, it } from 'vitest';
import { type LocalStackOptions, openLocalStack } from '../support/local-stack.ts';
import { overloaded, startScriptedApi } from '../support/scripted-messages-api.ts';
import { EXAMPLES } from '../support/stack.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const COMMAND = { title: 'Command', executor: 'command', command: { run: 'true' } } as const;
const HOST = { CREWBOARD_COMMANDS: 'host' };

/** A stack over a provider, and `why` of the first task of a job of this one. */
async function openStackFor(url: string, options: LocalStackOptions) {
  const stack = await openLocalStack({ provider: { url, key: 'test-provider-key' }, ...options });
  return {
    stack,
    async whyOf(task: Parameters<typeof stack.client.tasks.add>[1][number]) {
      const { id } = await stack.client.jobs.submit({ tasks: [task], workspace: { path: EXAMPLES } });
      const [first] = (await stack.client.tasks.list(id)).tasks;
      return { id, why: async () => (await stack.client.tasks.why(id, first?.id ?? '')).text };
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

it('a command without a worker does not ask for a model', async () => {
  await using api = await startScriptedApi(() => overloaded());
  await using at = await openStackFor(api.url, { worker: false, variables: HOST });
  expect(await (await at.whyOf(COMMAND)).why()).toBe(
    '#1 "Command" is ready, but no worker that runs commands is running (provider: no worker); start one with `crewboard worker` (it needs no model for that)',
  );
});

it('an agent is not served by a worker that only runs commands', { timeout: 60_000 }, async () => {
  await using api = await startScriptedApi(() => overloaded());
  const workerVariables = { ANTHROPIC_BASE_URL: '', ANTHROPIC_API_KEY: '' };
  await using at = await openStackFor(api.url, { variables: HOST, workerVariables });
  const command = await at.whyOf(COMMAND);
  await poll(async () => (await at.stack.client.jobs.get(command.id)).status).toBe('succeeded');
  const agent = await at.whyOf({ title: 'Agent' });
  expect(await agent.why()).toMatch(
    /^#1 "Agent" is ready, but no worker that can reach its model is running/,
  );
});

it('a task whose model answers nobody is said to wait for it, not for a time', {
  timeout: 60_000,
}, async () => {
  await using api = await startScriptedApi(() => overloaded());
  const variables = {
    CREWBOARD_MODEL_TRIES: '1',
    CREWBOARD_MODEL_RETRY_MS: '10',
    CREWBOARD_PARK_MS: '600',
  };
  await using at = await openStackFor(api.url, { variables });
  const { why } = await at.whyOf({ title: 'A' });
  await poll(why).toMatch(
    /^#1 "A" waits for its model: provider: \S+ answers nobody \(.*\); that is probed at short intervals, and the task goes on as soon as it answers, else at \d{4}-\S+Z$/,
  );
});
