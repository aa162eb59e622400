import { type ReplyMessage, respond } from '../../packages/simulated-model/src/index.ts';
import {
  type Gate,
  gate,
  type MessageReply,
  type MessagesRequest,
  type ScriptedApi,
  startScriptedApi,
} from './scripted-messages-api.ts';

/** What answers a request; the simulated model by default. */
export type Answer = (request: MessagesRequest) => Omit<ReplyMessage, 'id' | 'model'>;

/** Calls that wait for their replies. */
export interface Held {
  /** Resolves when `count` calls wait. */
  arrived(count: number): Promise<void>;
  /** Lets the replies go, and holds no more. */
  open(): void;
}

/** A Messages API that checks and records every request, and can hold back the replies that a test chooses. */
export interface HeldModel extends ScriptedApi {
  /** From now on holds back replies for which `matches` is true, at most `most` of them. */
  hold(matches: (request: MessagesRequest, reply: ReturnType<Answer>) => boolean, most?: number): Held;
}

interface Hold {
  matches: (request: MessagesRequest, reply: ReturnType<Answer>) => boolean;
  most: number;
  gates: Gate[];
  tell: () => void;
}

/** Starts the model on 127.0.0.1. Stopping it throws when a request broke a rule of the Messages API. */
export async function startHeldModel(answer: Answer = respond): Promise<HeldModel> {
  const holds = new Set<Hold>();
  const api = await startScriptedApi((request) => {
    const { content, stopReason, usage } = answer(request);
    const scripted: MessageReply = { kind: 'message', content: [...content], stopReason, usage };
    for (const hold of holds) {
      if (hold.gates.length >= hold.most || !hold.matches(request, { content, stopReason, usage })) continue;
      const held = gate(scripted);
      hold.gates.push(held);
      hold.tell();
      return held;
    }
    return scripted;
  });
  return {
    ...api,
    hold(matches, most = Number.POSITIVE_INFINITY) {
      const waiting = new Set<{ count: number; resolve: () => void }>();
      const hold: Hold = {
        matches,
        most,
        gates: [],
        tell() {
          for (const waiter of waiting) if (waiter.count <= hold.gates.length) waiter.resolve();
        },
      };
      holds.add(hold);
      return {
        arrived: (count) =>
          new Promise((resolve) => {
            waiting.add({ count, resolve });
            hold.tell();
          }),
        open() {
          holds.delete(hold);
          for (const held of hold.gates) held.open();
        },
      };
    },
  };
}
