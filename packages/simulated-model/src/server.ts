import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type LoopbackServer, readBody, sendJson, serveLoopback } from './loopback-server.ts';
import { encodeEvent, streamEvents } from './message-stream.ts';
import { respond } from './respond.ts';
import { errorJson, MessagesRequest, messageJson } from './wire.ts';

export interface SimulatedModelOptions {
  /** 0 or absent takes a free one. */
  port?: number;
  host?: '127.0.0.1';
  /** How long each reply takes to begin. */
  latencyMs?: number;
  /** When set, requests need it as `Authorization: Bearer` or `x-api-key`; else any key, or none, will do. */
  requireKey?: string;
}

type Refusal = { status: number; type: string; message: string };

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hasKey(headers: IncomingHttpHeaders, key: string): boolean {
  const bearer = headers.authorization?.replace(/^Bearer +/i, '');
  const given = bearer ?? headers['x-api-key'];
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(key));
}

function refusal(status: number, type: string, message: string): Refusal {
  return { status, type, message };
}

async function readRequest(
  request: IncomingMessage,
  requireKey: string | undefined,
): Promise<{ refused: Refusal } | { body: MessagesRequest }> {
  const path = (request.url ?? '/').split('?')[0];
  if (path !== '/v1/messages') return { refused: refusal(404, 'not_found_error', `There is no ${path}.`) };
  if (request.method !== 'POST') {
    return { refused: refusal(405, 'invalid_request_error', 'Use POST.') };
  }
  if (requireKey !== undefined && !hasKey(request.headers, requireKey)) {
    return { refused: refusal(401, 'authentication_error', 'invalid API key') };
  }
  const bytes = await readBody(request);
  if (bytes === null) return { refused: refusal(413, 'request_too_large', 'The body is over 32 MB.') };
  const malformed = (message: string) => ({ refused: refusal(400, 'invalid_request_error', message) });
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return malformed('The body is not JSON in UTF-8.');
  }
  const parsed = MessagesRequest.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return malformed(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`);
  }
  if (parsed.data.messages[0]?.role !== 'user')
    return malformed('messages: first message must use the "user" role');
  return { body: parsed.data };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { latencyMs = 0, requireKey }: SimulatedModelOptions,
): Promise<void> {
  const read = await readRequest(request, requireKey);
  if ('refused' in read) {
    const { status, type, message } = read.refused;
    return sendJson(response, status, errorJson(type, message, 'req_sim_refused'));
  }
  const reply = respond(read.body);
  const headers = { 'request-id': reply.id.replace('msg', 'req') };
  if (latencyMs > 0) {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await wait(latencyMs, undefined, { signal: gone.signal }).catch(() => undefined);
    if (response.destroyed) return;
  }
  if (read.body.stream !== true) return sendJson(response, 200, messageJson(reply), headers);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
  });
  for (const event of streamEvents(reply)) response.write(encodeEvent(event));
  response.end();
}

/**
 * Starts the simulated model on the loopback interface: `POST /v1/messages`, streamed or not. Rejects when the
 * port is taken.
 */
export function startSimulatedModel(options: SimulatedModelOptions = {}): Promise<LoopbackServer> {
  return serveLoopback((request, response) => answer(request, response, options), options);
}
