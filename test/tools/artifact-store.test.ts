import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newJobId } from '@crewboard/contracts';
import { type ArtifactStore, createFileArtifactStore } from '@crewboard/tools';
import { describe, expect, it } from 'vitest';
import { refusalOf } from './support.ts';

const NEVER = new AbortController().signal;
const MOST = 1000;
const HOUR_MS = 3_600_000;

interface TestStore extends AsyncDisposable {
  store: ArtifactStore;
  root: string;
  jobId: string;
  /** Names in the job's folder. */
  names(): Promise<string[]>;
  /** Makes a content look as if it had been put so long ago. */
  age(sha256: string, ms: number): Promise<void>;
}

async function openStore(): Promise<TestStore> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-store-')));
  const root = join(home, 'artifacts');
  const jobId = newJobId();
  return {
    store: createFileArtifactStore(root, MOST),
    root,
    jobId,
    names: () => readdir(join(root, jobId)).catch(() => []),
    age: async (sha256, ms) => {
      const at = new Date(Date.now() - ms);
      await utimes(join(root, jobId, sha256), at, at);
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

const hashOf = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');
const bytesOf = async (content: AsyncIterable<Uint8Array>) => Buffer.concat(await all(content));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* pieces(...parts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

describe('the artifact store', () => {
  it('names a content by its hash, keeps its bytes, and gives them back whole or in part', async () => {
    await using test = await openStore();
    const content = Uint8Array.of(0xff, 0xfe, 0x00, 0x41);
    const stored = await test.store.put(test.jobId, content, NEVER);
    expect(stored).toEqual({ sha256: hashOf(content), bytes: 4 });
    expect(await test.names()).toEqual([stored.sha256]);
    expect(await bytesOf(await test.store.read(test.jobId, stored.sha256))).toEqual(Buffer.from(content));
    const part = await test.store.read(test.jobId, stored.sha256, { offset: 1, bytes: 2 });
    expect(await bytesOf(part)).toEqual(Buffer.of(0xfe, 0x00));
    expect((await stat(join(test.root, test.jobId, stored.sha256))).mode & 0o777).toBe(0o600);
  });

  it('stores one content once, from bytes, from a stream, and by many at a time', async () => {
    await using test = await openStore();
    const puts = Array.from({ length: 20 }, (_, i) =>
      test.store.put(test.jobId, i % 2 === 0 ? Buffer.from('same') : pieces('sa', 'me'), NEVER),
    );
    expect(new Set((await Promise.all(puts)).map(({ sha256 }) => sha256))).toEqual(new Set([hashOf('same')]));
    expect(await test.names()).toEqual([hashOf('same')]);
  });

  it('keeps an empty content', async () => {
    await using test = await openStore();
    const { sha256, bytes } = await test.store.put(test.jobId, new Uint8Array(), NEVER);
    expect(bytes).toBe(0);
    expect(await bytesOf(await test.store.read(test.jobId, sha256))).toHaveLength(0);
  });

  it.each([
    ['that is too large', pieces('x'.repeat(MOST), 'y'), 'payload_too_large'],
    ['whose source breaks off', pieces('begun', new Error('broke off')), 'broke off'],
  ])('leaves nothing of a content %s', async (_, content, why) => {
    await using test = await openStore();
    await expect(test.store.put(test.jobId, content, NEVER)).rejects.toThrow(why);
    expect(await test.names()).toEqual([]);
  });

  it('leaves nothing of a put that is aborted', async () => {
    await using test = await openStore();
    const stop = new AbortController();
    async function* content() {
      yield Buffer.from('begun');
      stop.abort(new Error('enough'));
      yield Buffer.from('going on');
    }
    await expect(test.store.put(test.jobId, content(), stop.signal)).rejects.toThrow('enough');
    expect(await test.names()).toEqual([]);
  });

  it('writes anew over a file that is not as long as its content', async () => {
    await using test = await openStore();
    const { sha256 } = await test.store.put(test.jobId, Buffer.from('whole'), NEVER);
    await writeFile(join(test.root, test.jobId, sha256), 'wh');
    expect(await test.store.has(test.jobId, { sha256, bytes: 5 })).toBe(false);
    await test.store.put(test.jobId, Buffer.from('whole'), NEVER);
    expect(await readFile(join(test.root, test.jobId, sha256), 'utf8')).toBe('whole');
  });

  it('reads nothing of another job, and nothing that is no hash', async () => {
    await using test = await openStore();
    const { sha256 } = await test.store.put(test.jobId, Buffer.from('mine'), NEVER);
    for (const [jobId, name] of [
      [newJobId(), sha256],
      [test.jobId, hashOf('other')],
      [test.jobId, `../${test.jobId}/${sha256}`],
      [test.jobId, '/etc/passwd'],
      ['../..', sha256],
      [`${test.jobId}/..`, sha256],
    ] as const) {
      expect(await refusalOf(test.store.read(jobId, name))).toMatchObject({ code: 'not_found' });
    }
  });

  it('follows no link, neither in the place of a content nor of a job', async () => {
    await using test = await openStore();
    await test.store.put(test.jobId, Buffer.from('mine'), NEVER);
    const outside = join(test.root, '..', 'secret');
    await writeFile(outside, 'SECRET');
    await symlink(outside, join(test.root, test.jobId, hashOf('link')));
    expect(await refusalOf(test.store.read(test.jobId, hashOf('link')))).toMatchObject({ code: 'not_found' });
    const other = newJobId();
    await symlink(join(test.root, '..'), join(test.root, other));
    expect(await refusalOf(test.store.read(other, hashOf('mine')))).toMatchObject({ code: 'forbidden' });
    expect(await refusalOf(test.store.put(other, Buffer.from('x'), NEVER))).toMatchObject({
      code: 'forbidden',
    });
    await test.store.removeJob(other);
    expect(await readFile(outside, 'utf8')).toBe('SECRET');
  });

  it('removes all of a job, and again', async () => {
    await using test = await openStore();
    await test.store.put(test.jobId, Buffer.from('mine'), NEVER);
    expect(await all(test.store.jobs())).toEqual([test.jobId]);
    for (let times = 0; times < 2; times++) await test.store.removeJob(test.jobId);
    expect(await all(test.store.jobs())).toEqual([]);
  });
});

describe('throwing a content away', () => {
  const rule = { olderThanMs: HOUR_MS, isWanted: async () => false };

  it('takes an old one that nobody wants, once', async () => {
    await using test = await openStore();
    const { sha256 } = await test.store.put(test.jobId, Buffer.from('old'), NEVER);
    await test.age(sha256, 2 * HOUR_MS);
    const [{ ageMs } = { ageMs: 0 }] = await all(test.store.contents(test.jobId));
    expect(ageMs).toBeGreaterThan(HOUR_MS);
    const both = await Promise.all([1, 2].map(() => test.store.discard(test.jobId, sha256, rule)));
    expect(both.sort()).toEqual([false, true]);
    expect(await test.names()).toEqual([]);
  });

  it('leaves a young one, one that is put again, and one that turns out to be wanted', async () => {
    await using test = await openStore();
    const { sha256, bytes } = await test.store.put(test.jobId, Buffer.from('kept'), NEVER);
    expect(await test.store.discard(test.jobId, sha256, rule)).toBe(false);
    await test.age(sha256, 2 * HOUR_MS);
    await test.store.put(test.jobId, Buffer.from('kept'), NEVER);
    expect(await test.store.discard(test.jobId, sha256, rule)).toBe(false);
    await test.age(sha256, 2 * HOUR_MS);
    const wanted = { ...rule, isWanted: async () => true };
    expect(await test.store.discard(test.jobId, sha256, wanted)).toBe(false);
    const unknown = { ...rule, isWanted: () => Promise.reject(new Error('no answer')) };
    await expect(test.store.discard(test.jobId, sha256, unknown)).rejects.toThrow('no answer');
    expect(await test.store.has(test.jobId, { sha256, bytes })).toBe(true);
  });

  it('does not take what is put at the last moment', async () => {
    await using test = await openStore();
    const { sha256, bytes } = await test.store.put(test.jobId, Buffer.from('late'), NEVER);
    await test.age(sha256, 2 * HOUR_MS);
    const isWanted = async () => {
      await test.store.put(test.jobId, Buffer.from('late'), NEVER);
      return false;
    };
    await test.store.discard(test.jobId, sha256, { olderThanMs: HOUR_MS, isWanted });
    expect(await test.store.has(test.jobId, { sha256, bytes })).toBe(true);
  });

  it('removes old leftovers of puts, and brings back what was being looked at when the process died', async () => {
    await using test = await openStore();
    const { sha256 } = await test.store.put(test.jobId, Buffer.from('looked at'), NEVER);
    const killed = { ...rule, isWanted: () => new Promise<boolean>(() => {}) };
    await test.age(sha256, 2 * HOUR_MS);
    void test.store.discard(test.jobId, sha256, killed);
    await expect.poll(test.names).toEqual([`.${sha256}.aside`]);
    await writeFile(join(test.root, test.jobId, '.young.tmp'), 'x');
    await writeFile(join(test.root, test.jobId, '.old.tmp'), 'x');
    await test.age('.old.tmp', 2 * HOUR_MS);
    await test.store.removeLeftovers(test.jobId, HOUR_MS);
    expect((await test.names()).sort()).toEqual(['.young.tmp', sha256].sort());
  });
});
