import Anthropic from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { z } from 'zod';
import { type LinkedAbort, linkAbort, untilAborted } from './linked-abort.ts';
import { type ModelCall, ModelCallError, type ModelReply, type ModelRequest } from './model-call.ts';
import { streamError, toModelCallError } from './provider-errors.ts';
import { askedPauseMs } from './rate-headers.ts';
import { ReplyReader } from './reply-reader.ts';

const ErrorEvent = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** How long an answer may stay open after its reply, by default: its end mostly comes at once. */
const TAIL_MS = 250;

function toParams(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
  return {
    model: request.model,
    max_tokens: request.maxTokens,
    system: request.system,
    messages: request.messages,
    ...(request.tools.length === 0 ? {} : { tools: request.tools }),
    stream: true,
  };
}

interface Reading {
  response: Response;
  reader: ReplyReader;
  apiKey: string;
  /** Aborts the reading; done when the tail takes too long. */
  call: LinkedAbort;
  /** Called with each event of the reply, pings included. */
  heard: () => void;
  tailMs: number;
}

/** Some gateways name an error in the data only. */
function isError(event: string | null, data: unknown): boolean {
  return (
    event === 'error' ||
    (typeof data === 'object' && data !== null && 'type' in data && data.type === 'error')
  );
}

async function readEvents({ response, reader, apiKey, heard }: Reading, onWhole: () => void) {
  for await (const event of Stream.rawEvents(response)) {
    if (reader.reply !== undefined) continue;
    heard();
    if (event.data === '') continue;
    const data: unknown = JSON.parse(event.data);
    if (isError(event.event, data)) {
      const { error } = ErrorEvent.parse(data);
      throw streamError(error.type, error.message, apiKey);
    }
    reader.add(data);
    if (reader.reply !== undefined) onWhole();
  }
}

/**
 * Reads a streamed answer to its end, so that the connection can be used again, but for at most `tailMs` after a whole
 * reply. Nothing that happens after that makes it fail.
 */
async function readReply(reading: Reading): Promise<ModelReply> {
  const { reader, call, tailMs } = reading;
  let tail: NodeJS.Timeout | undefined;
  const onWhole = () => {
    tail = setTimeout(() => call.abort(new Error('the answer did not end after its reply')), tailMs);
  };
  try {
    await untilAborted(readEvents(reading, onWhole), call.signal);
  } catch (error) {
    if (reader.reply === undefined) throw error;
  } finally {
    clearTimeout(tail);
  }
  if (reader.reply === undefined)
    throw new ModelCallError('transient', 'the stream ended before the reply did');
  return reader.reply;
}

export interface ModelCallOptions {
  /** Where the Messages API is, such as `https://api.anthropic.com`. */
  baseUrl: string;
  apiKey: string;
  /** The longest silence, from the request on. */
  idleMs: number;
  /** How long to wait for the end of an answer whose reply is whole, before the connection is given up. Default 250. */
  tailMs?: number;
  /** Another `fetch` than the global one. */
  fetch?: typeof fetch;
}

/**
 * Makes the real model call over `@anthropic-ai/sdk`: streamed, without the SDK's retries. A stream that is silent
 * for more than `idleMs`, from the request on, is given up as `transient`.
 */
export function createModelCall(options: ModelCallOptions): ModelCall {
  const { baseUrl, apiKey, idleMs, tailMs = TAIL_MS } = options;
  const client = new Anthropic({
    baseURL: baseUrl,
    apiKey,
    maxRetries: 0,
    timeout: idleMs,
    logLevel: 'off',
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  return async (request, { signal, onPauseAsked }) => {
    const call = linkAbort(signal);
    const reader = new ReplyReader();
    const silence = () => new ModelCallError('transient', `nothing came from the model for ${idleMs} ms`);
    const watchdog = setTimeout(() => call.abort(silence()), idleMs);
    try {
      signal.throwIfAborted();
      const response = await client.messages.create(toParams(request), { signal: call.signal }).asResponse();
      const pauseMs = askedPauseMs(response.headers);
      if (pauseMs !== undefined) onPauseAsked?.(pauseMs);
      const heard = () => watchdog.refresh();
      return await readReply({ response, reader, apiKey, call, heard, tailMs });
    } catch (error) {
      signal.throwIfAborted();
      const failure = call.signal.aborted ? silence() : toModelCallError(error, apiKey);
      throw reader.spent === undefined ? failure : failure.having(reader.spent);
    } finally {
      clearTimeout(watchdog);
      call.release();
    }
  };
}
