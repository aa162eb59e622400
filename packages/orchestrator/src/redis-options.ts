/** Longest wait for the next try of a connection that Redis refuses, in ms. */
const RETRY_MOST_MS = 1000;

/**
 * How every connection of a process comes back after Redis was away. Left to themselves clients would wait for up to 5 s
 * more after a long absence, and for up to 10 s when Redis, still reading its file, guesses that it will take that long.
 */
export const REDIS_OPTIONS = {
  maxLoadingRetryTime: 250,
  retryStrategy: (times: number) => Math.min(50 * 2 ** (times - 1), RETRY_MOST_MS) + Math.random() * 100,
};
