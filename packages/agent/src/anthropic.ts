import Anthropic from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { CrewboardError } from '@crewboard/contracts';
import { type LinkedAbort, linkAbort, untilAborted } from './linked-abort.ts';
import { type ModelCall, ModelCallError, type ModelReply, type ModelRequest } from './model-call.ts';
import { streamError, toModelCallError } from './provider-errors.ts';
import { askedPauseMs } from './rate-headers.ts';
import { ReplyReader } from './reply-reader.ts';
import { FUNCTION, firstBroken, NUMBER_ABOVE_0, NUMBER_FROM_0, optional, type Rule, TEXT } from './rules.ts';
import { timerMs } from './timers.ts';

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

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelCallError('transient', "the model's stream is malformed: an event holds no JSON");
  }
}

/** An answer that brought no reply, and was called something else than a stream, was none. */
function unfinished({ response, reader }: Reading): ModelCallError {
  const type = response.headers.get('content-type') ?? 'text/event-stream';
  const isStream = reader.spent !== undefined || /^text\/event-stream\b/i.test(type);
  const reason = isStream
    ? 'the stream ended before the reply did'
    : `the model's answer is no event stream but ${type}`;
  return new ModelCallError('transient', reason);
}

async function readEvents({ response, reader, apiKey, heard }: Reading, onWhole: () => void) {
  if (response.body === null)
    throw new ModelCallError('transient', `the model answered ${response.status} and nothing else`);
  for await (const event of Stream.rawEvents(response)) {
    if (reader.reply !== undefined) continue;
    heard();
    if (event.data === '') continue;
    const data = parseData(event.data);
    if (isError(event.event, data)) throw streamError(data, apiKey);
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
  if (reader.reply === undefined) throw unfinished(reading);
  return reader.reply;
}

export interface ModelCallOptions {
  /** Where the Messages API is, such as `https://api.anthropic.com`. */
  baseUrl: string;
  apiKey: string;
  /** The longest silence, from the request on; one that no timer can wait (24.8 days) is as long as that. */
  idleMs: number;
  /** How long to wait for the end of an answer whose reply is whole, before the connection is given up. Default 250. */
  tailMs?: number;
  /** Another `fetch` than the global one. */
  fetch?: typeof fetch;
}

const WEB_ADDRESS: Rule = {
  must: 'be an http or https URL',
  holds: (value) =>
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
};

function wrongCallOption({ baseUrl, apiKey, idleMs, tailMs, fetch }: ModelCallOptions): string | undefined {
  return firstBroken([
    ['baseUrl', baseUrl, WEB_ADDRESS],
    ['apiKey', apiKey, TEXT],
    ['idleMs', idleMs, NUMBER_ABOVE_0],
    ['tailMs', tailMs, optional(NUMBER_FROM_0)],
    ['fetch', fetch, optional(FUNCTION)],
  ]);
}

/**
 * Makes the real model call over `@anthropic-ai/sdk`: streamed, without the SDK's retries. A stream that is silent
 * for more than `idleMs`, from the request on, is given up as `transient`. Throws `invalid_argument` for options that
 * make no sense.
 */
export function createModelCall(options: ModelCallOptions): ModelCall {
  const wrong = wrongCallOption(options);
  if (wrong !== undefined)
    throw new CrewboardError('invalid_argument', `no model call can be made: ${wrong}`);
  const { baseUrl, apiKey } = options;
  const idleMs = timerMs(options.idleMs);
  const tailMs = timerMs(options.tailMs ?? TAIL_MS);
  const client = new Anthropic({
    baseURL: baseUrl,
    apiKey,
    maxRetries: 0,
    timeout: Math.ceil(idleMs),
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
      // Not by `messages.create`: it warns on stderr of every call of a deprecated model, whatever the log level.
      const post = { body: toParams(request), stream: true, signal: call.signal };
      const response = await client.post('/v1/messages', post).asResponse();
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
