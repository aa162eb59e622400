import { ContentBlock } from '@crewboard/contracts';
import { z } from 'zod';

/** One message of a request; its content is a text or a list of blocks of any type. */
export const WireMessage = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(ContentBlock)]),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** The body of `POST /v1/messages`, as far as a server must understand it; all else passes through. */
export const MessagesRequest = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  messages: z.array(WireMessage).min(1),
  stream: z.boolean().optional(),
  system: z.union([z.string(), z.array(ContentBlock)]).optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
export type MessagesRequest = z.infer<typeof MessagesRequest>;

/** Token counts in the API's own names; `input_tokens` are fresh ones only. */
export interface WireUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

/** One model reply before it is encoded. */
export interface ReplyMessage {
  id: string;
  model: string;
  content: readonly ContentBlock[];
  stopReason: string;
  usage: WireUsage;
}

/** Returns the body of a reply that is not streamed. */
export function messageJson(message: ReplyMessage): Record<string, unknown> {
  return {
    id: message.id,
    type: 'message',
    role: 'assistant',
    model: message.model,
    content: message.content,
    stop_reason: message.stopReason,
    stop_sequence: null,
    stop_details:
      message.stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
    diagnostics: null,
    usage: usageJson(message.usage),
  };
}

/** Returns the body of an error answer (and the data of an `error` event). */
export function errorJson(type: string, message: string, requestId: string): Record<string, unknown> {
  return { type: 'error', error: { type, message }, request_id: requestId };
}

export function usageJson(usage: WireUsage): Record<string, unknown> {
  return {
    ...usage,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cache_creation_input_tokens,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  };
}
