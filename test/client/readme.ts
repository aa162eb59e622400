import { readFile } from 'node:fs/promises';

/** The example of the client's README, a whole program. */
export async function readmeExample(readme: URL | string): Promise<string> {
  const [, code] = /```js\n(.*?)```/s.exec(await readFile(readme, 'utf8')) ?? [];
  if (code === undefined) throw new Error('the README has no example');
  return code;
}
