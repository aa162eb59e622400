import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CrewboardError, httpCall, type Speech, toProblem } from '@crewboard/contracts';

/** Of a request's line and headers together: Node's own bound. */
const HEADER_BYTES_MOST = 16_384;

const HEADERS = {
  'Content-Type': 'application/problem+json',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Connection: 'close',
};

/** What became of a request that is not HTTP, or not within its bounds, with the status that tells of it. */
function refusalOf(code: string | undefined): { status: string; error: CrewboardError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: '431 Request Header Fields Too Large',
      error: new CrewboardError(
        'payload_too_large',
        `The URL and headers are over the limit of ${HEADER_BYTES_MOST} bytes: send what is long in the body.`,
        { limitBytes: HEADER_BYTES_MOST },
      ),
    };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      status: '408 Request Timeout',
      error: new CrewboardError('unavailable', 'The request did not arrive in time. Nothing was changed.'),
    };
  }
  return {
    status: '400 Bad Request',
    error: new CrewboardError('invalid_argument', 'This is not a request in HTTP/1.1.'),
  };
}

/** The body of such an answer; its status is one that HTTP has for the case alone. */
const problemText = (error: CrewboardError, status: number, speech: Speech = { say: () => undefined }) =>
  JSON.stringify({ ...toProblem(error, speech), status });

/** Answers, in the one shape of errors, what never became a request, and closes the connection. */
export function answerClientError(failure: Error & { code?: string }, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy(failure);
    return;
  }
  const { status, error } = refusalOf(failure.code);
  const body = problemText(error, Number.parseInt(status, 10));
  const headers = { ...HEADERS, 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
}

const EXPECTATION_FAILED = 417;

/** Answers a request that expects something else than `100-continue`, which no application hears of; closes as well. */
export function answerExpectation(
  { method = 'GET', url = '' }: IncomingMessage,
  response: ServerResponse,
): void {
  const error = new CrewboardError(
    'invalid_argument',
    'Of "Expect" only "100-continue" is known: send the request without that header.',
    { next: { call: 'again', with: 'no Expect' } },
  );
  const [path = ''] = url.split('?', 1);
  const body = problemText(error, EXPECTATION_FAILED, { say: (next) => httpCall(next, { method, path }) });
  response.writeHead(EXPECTATION_FAILED, { ...HEADERS, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** True when the client waits for leave to send a body that is over the limit anyway. */
export const waitsInVain = ({ headers }: IncomingMessage, bodyLimitBytes: number): boolean =>
  headers.expect !== undefined && Number(headers['content-length']) > bodyLimitBytes;

/** Gives clients that ask for it leave to send their body, unless it is over the limit: those are refused before. */
export function giveLeave(server: Server, bodyLimitBytes: number): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!waitsInVain(request, bodyLimitBytes)) response.writeContinue();
    server.emit('request', request, response);
  });
}
