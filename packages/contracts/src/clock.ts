/** ISO 8601 UTC of `ms` since the epoch: times are ms in Redis, text in JSON. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
