import { z } from 'zod';

/**
 * What redis.json in the server's folder holds, for its owner only: written before the server starts, so that it is
 * found again whenever this process dies. A server of an earlier version has no password.
 */
export const RedisState = z.strictObject({
  port: z.number().int().min(1).max(65_535),
  password: z.string().min(1).optional(),
});
export type RedisState = z.infer<typeof RedisState>;

/** The URL of a Redis of ours; port 0 stands for one that is still to be found. */
export function localUrl(port: number, password: string | undefined): string {
  return `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`;
}

/** The password in a Redis URL, if it has one. */
export function passwordIn(url: string | undefined): string | undefined {
  const password = url === undefined ? '' : decodeURIComponent(new URL(url).password);
  return password === '' ? undefined : password;
}
