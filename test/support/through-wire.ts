/** The URL of a Redis behind a port of this machine: the same credentials, another address. */
export function throughWire(redisUrl: string, port: number): string {
  const url = new URL(redisUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}
