const REMAINING = /^anthropic-ratelimit-(.+)-remaining$/;

/** Nobody means a longer pause; dates and sums with it stay dates and sums. */
const PAUSE_MOST_MS = 365 * 24 * 3_600_000;

/** The server's clock where it tells it: dates in its headers are by that one. */
function serverNow(headers: Headers): number {
  const now = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(now) ? Date.now() : now;
}

/** Time from now until `text`: seconds, or a date (HTTP or RFC 3339). Undefined for anything else, and for the past. */
function untilMs(text: string | null, headers: Headers): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - serverNow(headers);
  return ms > 0 ? ms : undefined;
}

function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  return exact > 0 ? exact : untilMs(headers.get('retry-after'), headers);
}

/** Until every limit of which nothing remains is reset. */
function resetMs(headers: Headers): number[] {
  return [...headers].flatMap(([name, value]) => {
    const limit = REMAINING.exec(name)?.[1];
    if (limit === undefined || value.trim() === '' || Number(value) !== 0) return [];
    return untilMs(headers.get(`anthropic-ratelimit-${limit}-reset`), headers) ?? [];
  });
}

/**
 * How long a provider asks everybody to wait, in ms, by `retry-after-ms`, `retry-after` (seconds or a date) and by the
 * reset of each rate limit that is used up; the longest of them, and at most a year. Undefined when it asks for nothing.
 */
export function askedPauseMs(headers: Headers | undefined): number | undefined {
  if (headers === undefined) return undefined;
  const asked = [retryAfterMs(headers) ?? 0, ...resetMs(headers)];
  const longest = Math.max(...asked);
  return longest > 0 ? Math.min(longest, PAUSE_MOST_MS) : undefined;
}
