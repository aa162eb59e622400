import type { Socket } from 'node:net';
import { CrewboardError, toProblem } from '@crewboard/contracts';

/** Of a request's line and headers together: Node's own bound. */
const HEADER_BYTES_MOST = 16_384;

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

/** Answers, in the one shape of errors, what never became a request, and closes the connection. */
export function answerClientError(failure: Error & { code?: string }, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy(failure);
    return;
  }
  const { status, error } = refusalOf(failure.code);
  const body = JSON.stringify({
    ...toProblem(error, { say: () => undefined }),
    status: Number.parseInt(status, 10),
  });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
