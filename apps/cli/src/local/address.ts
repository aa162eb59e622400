const LOOPBACK_FOR: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '[::1]',
  '[::]': '[::1]',
};

/** True for an address that stands for all interfaces of this machine. */
export function isEverywhere(host: string): boolean {
  return Object.hasOwn(LOOPBACK_FOR, host);
}

/** Returns `url` as this machine reaches it: all interfaces have no address of their own. */
export function fromHere(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const loopback = LOOPBACK_FOR[hostname];
  return loopback === undefined ? url : `${protocol}//${loopback}:${port}`;
}
