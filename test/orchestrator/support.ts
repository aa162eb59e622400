import type { Boards } from '@crewboard/board';
import type { BoardEvent, Job, JobBody } from '@crewboard/contracts';
import { expect } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  blocksOf,
  type MessagesRequest,
  offersTool,
  type ScriptedApi,
  type ScriptedReply,
  startScriptedApi,
} from '../support/scripted-messages-api.ts';

/** Answers a request of one agent; `turn` counts the replies that its conversation holds, from 0. */
export type AgentScript = (request: MessagesRequest, turn: number) => ScriptedReply | Promise<ScriptedReply>;

/** API and worker over a model whose lead and sub-agents a test scripts. */
export interface LeadStack extends AsyncDisposable {
  local: LocalStack;
  boards: Boards;
  api: ScriptedApi;
  submit(body: JobBody): Promise<string>;
  events(jobId: string, type: BoardEvent['type']): Promise<BoardEvent[]>;
  /** Resolves with the job once it has this status. */
  until(jobId: string, status: Job['status']): Promise<Job>;
  /** The requests of the lead, or of sub-agents, in order of arrival. */
  requests(of: 'lead' | 'sub-agents'): MessagesRequest[];
}

export const isLead = (request: MessagesRequest) => offersTool(request, 'finish_job');

/** How many replies the conversation of a request holds. */
export const turnsOf = ({ messages }: MessagesRequest) =>
  messages.filter(({ role }) => role === 'assistant').length;

/** The texts of the request's last message that are no results of tools. */
export function lastTexts(request: MessagesRequest): string[] {
  return blocksOf(request.messages.at(-1) ?? {}).flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
}

/** How often `text` stands in a request's whole conversation. */
export function timesIn(request: MessagesRequest, text: string): number {
  return JSON.stringify(request.messages).split(text).length - 1;
}

/** Opens a stack whose lead and sub-agents answer by the scripts. */
export async function openLeadStack(
  scripts: { lead?: AgentScript; subAgent?: AgentScript },
  variables: Readonly<Record<string, string>> = {},
): Promise<LeadStack> {
  const api = await startScriptedApi((request) => {
    const script = isLead(request) ? scripts.lead : scripts.subAgent;
    if (script === undefined) throw new Error('no script for this agent');
    return script(request, turnsOf(request));
  });
  const local = await openLocalStack({ provider: { url: api.url, key: 'test-provider-key' }, variables });
  const boards = boardsOf(local);
  return {
    local,
    boards,
    api,
    submit: async (body) => (await local.client.jobs.submit(body)).id,
    events: async (jobId, type) =>
      (await boards.events(jobId, '0-0', 5000)).filter((event) => event.type === type),
    async until(jobId, status) {
      const now = async () => (await local.client.jobs.get(jobId)).status;
      await expect.poll(now, { timeout: 20_000 }).toBe(status);
      return local.client.jobs.get(jobId);
    },
    requests: (of) =>
      api.requests.map(({ body }) => body).filter((request) => isLead(request) === (of === 'lead')),
    async [Symbol.asyncDispose]() {
      await local[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}
