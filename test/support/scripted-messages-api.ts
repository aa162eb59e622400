import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  encodeEvent,
  errorJson,
  MessagesRequest,
  messageJson,
  type ReplyMessage,
  readBody,
  sendJson,
  serveLoopback,
  streamEvents,
} from '../../packages/simulated-model/src/index.ts';
import { blocksOf, checkRequest, type Json, type SentReply } from './messages-rules.ts';
import type { MessageReply, ScriptedReply } from './scripted-replies.ts';

export type { MessagesRequest } from '../../packages/simulated-model/src/index.ts';
export { blocksOf, checkRequest } from './messages-rules.ts';
export {
  cutStream,
  cutToolUse,
  delay,
  errorInStream,
  type Gate,
  gate,
  hang,
  httpError,
  type MessageReply,
  overloaded,
  rateLimited,
  redactedThinking,
  reply,
  type ScriptedReply,
  stallStream,
  text,
  thinking,
  toolUse,
  withHeaders,
} from './scripted-replies.ts';

/** Answers the `callNumber`-th call (from 1), or a list of replies in the order of arrival. */
export type Script =
  | readonly ScriptedReply[]
  | ((request: MessagesRequest, callNumber: number) => ScriptedReply | Promise<ScriptedReply>);

export interface RecordedRequest {
  body: MessagesRequest;
  headers: IncomingHttpHeaders;
  /** When it had arrived whole, in ms of `performance.now()`. */
  atMs: number;
  /** Resolves once the answer is out, or the client has gone away before that. */
  ended: Promise<'answered' | 'aborted'>;
}

export interface ScriptedApi extends AsyncDisposable {
  url: string;
  /** Every request that reached the script, in order of arrival. */
  requests: RecordedRequest[];
  /** The rules of the Messages API that requests broke; stopping the server throws when there are any. */
  violations: string[];
  /** Resolves when at least `count` requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Returns the violations so far and forgets them: for tests that break a rule on purpose. */
  takeViolations(): string[];
  /** Closes the server and its connections. Throws when a request broke a rule. */
  stop(): Promise<void>;
}

const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** The server's memory: what came, what was sent, what was wrong. */
class Recorder {
  readonly requests: RecordedRequest[] = [];
  readonly sent: SentReply[] = [];
  readonly violations: string[] = [];
  #waiters: { count: number; resolve: () => void }[] = [];

  add(request: RecordedRequest): number {
    const number = this.requests.push(request);
    for (const waiter of this.#waiters.filter(({ count }) => count <= number)) waiter.resolve();
    this.#waiters = this.#waiters.filter(({ count }) => count > number);
    return number;
  }

  arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ count, resolve }));
  }

  /** Throws away and reports what was wrong. */
  takeViolations(): string[] {
    return this.violations.splice(0);
  }
}

function whenEnded(response: ServerResponse): Promise<'answered' | 'aborted'> {
  return new Promise((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'answered' : 'aborted'));
  });
}

async function readRequest(
  request: IncomingMessage,
  response: ServerResponse,
  recorder: Recorder,
): Promise<MessagesRequest | null> {
  const refuse = (status: number, type: string, message: string) => {
    recorder.violations.push(`${request.method} ${request.url}: ${message}`);
    sendJson(response, status, errorJson(type, message, 'req_refused'));
    return null;
  };
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (request.method !== 'POST' || path !== '/v1/messages')
    return refuse(404, 'not_found_error', 'no such path');
  const bytes = await readBody(request);
  if (bytes === null) return refuse(413, 'request_too_large', 'the body is over 32 MB');
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return refuse(400, 'invalid_request_error', `not UTF-8 JSON: ${String(error)}`);
  }
  const number = recorder.requests.length + 1;
  if (request.headers['anthropic-version'] === undefined)
    recorder.violations.push('anthropic-version is missing');
  recorder.violations.push(...checkRequest(body, recorder.sent).map((line) => `request ${number}: ${line}`));
  const parsed = MessagesRequest.safeParse(body);
  if (!parsed.success) return refuse(400, 'invalid_request_error', parsed.error.message);
  return parsed.data;
}

function replyMessage(scripted: MessageReply, request: MessagesRequest, number: number): ReplyMessage {
  return {
    id: `msg_${number}`,
    model: request.model,
    content: scripted.content,
    stopReason: scripted.stopReason ?? 'end_turn',
    usage: { ...USAGE, ...scripted.usage },
  };
}

function startStream(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
}

/** Plays one reply. Waits end early when the client goes away. */
async function play(
  scripted: ScriptedReply,
  call: { request: MessagesRequest; number: number; response: ServerResponse; ended: Promise<unknown> },
  recorder: Recorder,
): Promise<void> {
  const { request, number, response, ended } = call;
  switch (scripted.kind) {
    case 'gate':
      scripted.reach();
      await Promise.race([scripted.opened, ended]);
      return response.destroyed ? undefined : play(scripted.reply, call, recorder);
    case 'delay':
      await Promise.race([wait(scripted.ms, undefined, { ref: false }), ended]);
      return response.destroyed ? undefined : play(scripted.reply, call, recorder);
    case 'error':
      return sendJson(
        response,
        scripted.status,
        errorJson(scripted.type, scripted.message, `req_${number}`),
        {
          ...scripted.headers,
          'request-id': `req_${number}`,
        },
      );
    case 'broken': {
      const events = streamEvents(replyMessage(scripted.reply, request, number)).slice(
        0,
        scripted.afterEvents,
      );
      if (scripted.afterEvents > 0 || scripted.how === 'error') startStream(response);
      for (const event of events) response.write(encodeEvent(event));
      if (scripted.how === 'silence') return;
      if (scripted.how === 'reset' && !response.headersSent) return void response.destroy();
      // Only what was flushed reaches the client before the connection goes.
      if (scripted.how === 'reset') return void response.write('', () => response.destroy());
      const error = { type: 'error', ...errorJson('overloaded_error', 'Overloaded', `req_${number}`) };
      return void response.end(encodeEvent(error));
    }
    case 'message': {
      const message = replyMessage(scripted, request, number);
      recorder.sent.push({ content: structuredClone([...message.content]), stopReason: message.stopReason });
      if (request.stream !== true) {
        return sendJson(response, 200, messageJson(message), { 'request-id': `req_${number}` });
      }
      startStream(response, scripted.headers);
      for (const event of streamEvents(message)) response.write(encodeEvent(event));
      return void response.end();
    }
  }
}

function nextReply(
  script: Script,
  request: MessagesRequest,
  number: number,
): ScriptedReply | Promise<ScriptedReply> {
  if (typeof script === 'function') return script(request, number);
  const scripted = script[number - 1];
  if (scripted === undefined) throw new Error(`the script has no reply for call ${number}`);
  return scripted;
}

/**
 * Starts a Messages API on 127.0.0.1 that answers by `script`. Every request is checked by the API's own rules
 * ({@link checkRequest}); a broken rule, a call beyond the script and a script that throws are violations.
 */
export async function startScriptedApi(script: Script): Promise<ScriptedApi> {
  const recorder = new Recorder();
  const server = await serveLoopback(async (incoming, response) => {
    const ended = whenEnded(response);
    const request = await readRequest(incoming, response, recorder);
    if (request === null) return;
    const number = recorder.add({ body: request, headers: incoming.headers, atMs: performance.now(), ended });
    try {
      await play(await nextReply(script, request, number), { request, number, response, ended }, recorder);
    } catch (error) {
      recorder.violations.push(`call ${number}: ${String(error)}`);
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, errorJson('invalid_request_error', String(error), `req_${number}`));
    }
  });
  const stop = async () => {
    await server.stop();
    const broken = recorder.takeViolations();
    if (broken.length > 0) throw new Error(`requests broke the Messages API's rules:\n${broken.join('\n')}`);
  };
  return {
    url: server.url,
    requests: recorder.requests,
    violations: recorder.violations,
    arrived: (count) => recorder.arrived(count),
    takeViolations: () => recorder.takeViolations(),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** True when the request offers the tool `name`: that is how a script tells the lead from sub-agents. */
export function offersTool(request: MessagesRequest, name: string): boolean {
  return request.tools?.some((tool) => tool.name === name) ?? false;
}

function textsOf(blocks: readonly Json[]): string[] {
  return blocks.flatMap((block) => {
    if (typeof block.text === 'string') return [block.text];
    return block.type === 'tool_result' ? textsOf(blocksOf(block)) : [];
  });
}

/** True for the request that asks a failing model whether it is there again. */
export function isProbe(request: MessagesRequest): boolean {
  return request.max_tokens === 1;
}

/** All texts of the conversation, results of tools included, one a line. */
export function allText(request: MessagesRequest): string {
  return request.messages.flatMap((message) => textsOf(blocksOf(message))).join('\n');
}

/** The tool results of the request's last message. */
export function lastResults(request: MessagesRequest): { id: string; text: string; isError: boolean }[] {
  const blocks = blocksOf(request.messages.at(-1) ?? {});
  return blocks
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({
      id: String(block.tool_use_id),
      text: textsOf([block]).join('\n'),
      isError: block.is_error === true,
    }));
}
