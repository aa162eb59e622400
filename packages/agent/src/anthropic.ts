import Anthropic from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { z } from 'zod';
import { linkAbort } from './linked-abort.ts';
import { type ModelCall, ModelCallError, type ModelReply, type ModelRequest } from './model-call.ts';
import { streamError, toModelCallError } from './provider-errors.ts';
import { askedPauseMs } from './rate-headers.ts';
import { ReplyReader } from './reply-reader.ts';

const ErrorEvent = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

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

async function readEvents(response: Response, reader: ReplyReader, apiKey: string, heard: () => void) {
  for await (const event of Stream.rawEvents(response)) {
    heard();
    if (event.data === '') continue;
    const data: unknown = JSON.parse(event.data);
    if (event.event === 'error') {
      const { error } = ErrorEvent.parse(data);
      throw streamError(error.type, error.message, apiKey);
    }
    reader.add(data);
  }
}

/**
 * Reads a streamed answer to its end, so that the connection can be used again; `heard` is called with each event,
 * pings included. Nothing that happens after a whole reply makes it fail.
 */
async function readReply(
  response: Response,
  reader: ReplyReader,
  apiKey: string,
  heard: () => void,
): Promise<ModelReply> {
  try {
    await readEvents(response, reader, apiKey, heard);
  } catch (error) {
    if (reader.reply === undefined) throw error;
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
  /** Another `fetch` than the global one. */
  fetch?: typeof fetch;
}

/**
 * Makes the real model call over `@anthropic-ai/sdk`: streamed, without the SDK's retries. A stream that is silent
 * for more than `idleMs`, from the request on, is given up as `transient`.
 */
export function createModelCall(options: ModelCallOptions): ModelCall {
  const { baseUrl, apiKey, idleMs } = options;
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
      return await readReply(response, reader, apiKey, () => watchdog.refresh());
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
