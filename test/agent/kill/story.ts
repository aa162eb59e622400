import type { Tool } from '../../../packages/contracts/src/index.ts';
import {
  type MessagesRequest,
  redactedThinking,
  reply,
  text,
  thinking,
  toolUse,
} from '../../support/scripted-messages-api.ts';
import { recordingTool } from '../support.ts';

/** A conversation of six turns with nine calls: read-only ones, effects, a repeatable write, a nudge, two submits. */
export const REPLIES = [
  reply([
    thinking('First I look.', 'sig-1'),
    text('I begin.'),
    toolUse('look', {}, 'look_1'),
    toolUse('change', {}, 'change_1'),
  ]),
  reply([
    toolUse('board', {}, 'board_1'),
    redactedThinking('opaque-1'),
    toolUse('look', {}, 'look_2'),
    toolUse('look', {}, 'look_3'),
  ]),
  reply([text('One more change.'), toolUse('change', {}, 'change_2')]),
  reply([toolUse('look', {}, 'look_4'), toolUse('submit', { summary: 'too early' }, 'submit_1')]),
  reply([text('Is that all?')]),
  reply([toolUse('submit', { summary: 'the result' }, 'submit_2')]),
];

export const CALLS = REPLIES.flatMap(({ content }) => content).filter(({ type }) => type === 'tool_use');

/** A model without memory: it goes by how many replies the conversation holds. */
export function byConversation(request: MessagesRequest) {
  const replies = request.messages.filter((message) => message.role === 'assistant').length;
  return REPLIES[replies] ?? reply([]);
}

/** What the tools have done to the world, in order: a line an effect. */
export interface World {
  effect(line: string): void;
  readonly effects: readonly string[];
}

/** The tools of the story. `board` does nothing twice for one requestId, as the real one. */
export function storyTools(world: World): Tool[] {
  const once = (line: string) => {
    if (!world.effects.includes(line)) world.effect(line);
  };
  return [
    recordingTool([], { name: 'look', answer: (_, { toolUseId }) => ({ content: `saw ${toolUseId}` }) }),
    recordingTool([], {
      name: 'change',
      readOnly: false,
      answer: (_, { toolUseId }) => {
        world.effect(`change ${toolUseId}`);
        return { content: 'changed' };
      },
    }),
    recordingTool([], {
      name: 'board',
      readOnly: false,
      idempotent: true,
      answer: (_, { requestId }) => {
        once(`board ${requestId}`);
        return { content: 'noted' };
      },
    }),
    recordingTool([], {
      name: 'submit',
      readOnly: false,
      idempotent: true,
      endsAttempt: true,
      answer: (input, { toolUseId }) => {
        if (toolUseId === 'submit_1') return { content: 'the check failed', isError: true };
        once(`submitted ${JSON.stringify(input)}`);
        return { content: 'accepted', end: { kind: 'done' } };
      },
    }),
  ];
}
