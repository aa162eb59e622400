import type { IncomingMessage } from 'node:http';
import { CrewboardError } from '@crewboard/contracts';

/** Headers of which Node hands on the first and drops the others: what stands before us may have read the last. */
const SINGLE: readonly string[] = ['host', 'authorization', 'content-type'];

/** True where the request line names a host of its own, as for a proxy, and it is not that of the header. */
function isOfOtherHost(url: string, host: string): boolean {
  if (url.startsWith('/') || !URL.canParse(url) || !URL.canParse(`http://${host}`)) return false;
  return new URL(url).hostname !== new URL(`http://${host}`).hostname;
}

/**
 * Refuses, with `invalid_argument`, a request that says twice where it goes, whose it is or what it holds, and one in
 * HTTP/1.1 that says nothing of where it goes.
 */
export function refuseUnclearHeaders(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersion, url = '' } = request;
  const seen = new Set<string>();
  // Names and values by turns.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    if (!SINGLE.includes(name)) continue;
    if (seen.has(name))
      throw unclear(`The header "${name}" stands twice in the request: send it once.`, name);
    seen.add(name);
  }
  if (headers.host === undefined && httpVersion === '1.1')
    throw unclear('The header "host" is missing: a request in HTTP/1.1 has one.', 'host');
  if (isOfOtherHost(url, headers.host ?? ''))
    throw unclear('The request line and the header "host" name different hosts.', 'host');
}

function unclear(detail: string, header: string): CrewboardError {
  return new CrewboardError('invalid_argument', detail, {
    next: { call: 'again', with: `one ${header} header` },
  });
}
