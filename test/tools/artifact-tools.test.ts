import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Artifact, ArtifactPath, CrewboardError } from '@crewboard/contracts';
import {
  contentTypeOf,
  createReadArtifactTool,
  createWriteArtifactTool,
  readTextPage,
} from '@crewboard/tools';
import { describe, expect, it } from 'vitest';
import { quietContext, refusalOf } from './support.ts';

async function* inPieces(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

/** An agent's artifacts in memory. */
function shelf() {
  const files = new Map<string, { artifact: Artifact; content: Uint8Array }>();
  const access = {
    async find(name: string) {
      const found = files.get(name);
      if (found === undefined) throw new CrewboardError('not_found', `no artifact ${name}`);
      return found.artifact;
    },
    open: async ({ ref }: Artifact) =>
      Readable.from(inPieces(files.get(ref)?.content ?? new Uint8Array(), 7)),
    async write({ path, content }: { path: string; content: Uint8Array }) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      const ref = `a_${sha256.slice(0, 20)}`;
      const artifact = { ref, path, bytes: content.length, sha256, contentType: 'text/plain', createdAt: '' };
      files.set(ref, { artifact, content });
      return artifact;
    },
  };
  const read = createReadArtifactTool(access, 'Yours.');
  const write = createWriteArtifactTool(access);
  return {
    write: async (path: string, content: string): Promise<{ ref: string; bytes: number }> =>
      JSON.parse((await write.execute({ path, content }, quietContext())).content),
    read: async (ref: string, page: { offset?: number; limit?: number } = {}) =>
      (await read.execute({ ref, ...page }, quietContext())).content,
  };
}

describe('a page of text', () => {
  const TEXT = 'aé😀b😀ß\u0000c'.repeat(40);

  it.each([1, 2, 3, 5, 1000])(
    'is the same whatever pieces of %i bytes the content comes in',
    async (size) => {
      const clean = TEXT.replaceAll('\0', '\ufffd');
      for (const [offset, limit] of [
        [0, 10],
        [3, 1],
        [17, 40],
        [clean.length - 3, 50],
      ] as const) {
        const page = await readTextPage(inPieces(Buffer.from(TEXT), size), offset, limit);
        expect(page.total).toBe(clean.length);
        expect(page.text).toBe(clean.slice(page.start, page.end));
        expect(page.text.isWellFormed()).toBe(true);
      }
    },
  );

  it('joins to the whole text page by page, and never stands still', async () => {
    const text = '😀'.repeat(30);
    let joined = '';
    for (let offset = 0; offset < text.length; ) {
      const page = await readTextPage(inPieces(Buffer.from(text), 3), offset, 1);
      expect(page.end).toBeGreaterThan(offset);
      joined += page.text;
      offset = page.end;
    }
    expect(joined).toBe(text);
  });
});

describe('read_artifact and write_artifact', () => {
  it('store a text and read it page by page', async () => {
    const agent = shelf();
    const { ref, bytes } = await agent.write('reports/a.md', 'one two three');
    expect(bytes).toBe(13);
    expect(await agent.read(ref)).toBe('reports/a.md · characters 0-13 of 13 · 13 bytes\none two three');
    expect(await agent.read(ref, { offset: 4, limit: 3 })).toBe(
      'reports/a.md · characters 4-7 of 13 · 13 bytes\ntwo',
    );
    expect(await agent.read(ref, { offset: 13 })).toBe('reports/a.md · characters 13-13 of 13 · 13 bytes\n');
    expect(await refusalOf(agent.read(ref, { offset: 14 }))).toMatchObject({ code: 'invalid_argument' });
    expect(await refusalOf(agent.read('a_00000000000000000000'))).toMatchObject({ code: 'not_found' });
  });
});

describe('the path of an artifact', () => {
  it.each(['a', 'reports/summary.md', 'файл 1.txt', '😀.png', '.hidden', 'a..b', '100%25.csv', 'q?x#y'])(
    'may be %s',
    (path) => {
      expect(ArtifactPath.safeParse(path).success).toBe(true);
    },
  );

  it.each([
    '',
    '/etc/passwd',
    '..',
    '../x',
    'a/../b',
    'a/./b',
    'a//b',
    'a/',
    'a\\b',
    'a\nb',
    'a\u202eb',
    'a\u0000b',
    'a\ud800b',
    'x'.repeat(513),
    'a_0123456789abcdef0123',
  ])('is not %j', (path) => {
    expect(ArtifactPath.safeParse(path).success).toBe(false);
  });

  it('tells the content type', () => {
    expect(contentTypeOf('reports/a.md')).toBe('text/markdown');
    expect(contentTypeOf('a.json')).toBe('application/json');
    for (const bare of ['Makefile', 'dir', 'a.b/md'])
      expect(contentTypeOf(bare)).toBe('application/octet-stream');
  });
});
