import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@crewboard/client';
import type { Artifact, ArtifactList } from '@crewboard/contracts';
import { describe, expect, it, vi } from 'vitest';
import { parseRange } from '../../apps/api/src/byte-range.ts';
import { putArtifact } from '../../packages/orchestrator/src/artifacts/put-artifact.ts';
import { textOf } from '../support/artifacts.ts';
import { ADMIN_KEY, AS_ADMIN, bearer, PROJECT_ADMIN_KEY, READ_KEY } from './open-app.ts';
import { openRealApp, type RealApp } from './open-real-app.ts';

const RESULT = { summary: 'done', evidence: [] };
const BYTES = Buffer.from([0xff, 0xfe, 0x00, ...Buffer.from('0123456789')]);

/** A job whose task has submitted these files. */
async function submitted(app: RealApp, files: Record<string, Uint8Array | string>) {
  const { boards } = app.board;
  const { jobId, ids } = await app.board.job([{ key: 'a', title: 'A' }]);
  const { hold, task } = await app.board.claim(jobId, ids.a ?? '');
  const made: Artifact[] = [];
  for (const [path, content] of Object.entries(files)) {
    const file = { path, content: Buffer.from(content), isKept: false };
    const call = { requestId: path, signal: new AbortController().signal };
    made.push(await putArtifact({ boards, artifacts: app.artifacts }, hold, file, call));
  }
  const submit = () => boards.submit(hold, 's', task.version, RESULT);
  const url = (name: string) => `${app.url}/v1/jobs/${jobId}/artifacts/${name}`;
  return { jobId, made, submit, url };
}

const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url, { method, headers: { ...AS_ADMIN, ...headers } });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

describe('downloading a file', () => {
  it('gives its bytes by path and by ref, as an attachment of its type that nothing may guess at', async () => {
    await using app = await openRealApp();
    const { made, submit, url } = await submitted(app, { 'out/data.csv': BYTES });
    const [artifact] = made;
    expect((await get(url('out/data.csv'))).status).toBe(404);
    await submit();
    for (const name of ['out/data.csv', artifact?.ref ?? '']) {
      const answer = await get(url(name));
      expect(answer.status).toBe(200);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/csv',
        'content-length': '13',
        'content-disposition': `attachment; filename="data.csv"; filename*=UTF-8''data.csv`,
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        etag: `"${artifact?.sha256}"`,
      });
      expect(await bytesOf(answer)).toEqual(BYTES);
    }
  });

  it('answers a HEAD with the same headers and no body', async () => {
    await using app = await openRealApp();
    const { submit, url } = await submitted(app, { 'a.bin': BYTES });
    await submit();
    const head = await get(url('a.bin'), {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe('13');
    expect(head.headers.get('content-type')).toBe('application/octet-stream');
    expect(await bytesOf(head)).toHaveLength(0);
    const ranged = await get(url('a.bin'), { range: 'bytes=99-' }, 'HEAD');
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([200, '13']);
    expect((await get(url('b.bin'), {}, 'HEAD')).status).toBe(404);
    expect((await get(url('a.bin'), {}, 'POST')).status).toBe(405);
  });

  it.each([
    ['bytes=0-0', 206, 'bytes 0-0/13', [0, 1]],
    ['bytes=3-', 206, 'bytes 3-12/13', [3, 13]],
    ['bytes=-4', 206, 'bytes 9-12/13', [9, 13]],
    ['bytes=-99', 206, 'bytes 0-12/13', [0, 13]],
    ['bytes=10-99', 206, 'bytes 10-12/13', [10, 13]],
    ['bytes=13-', 416, 'bytes */13', [0, 0]],
    ['bytes=-0', 416, 'bytes */13', [0, 0]],
    ['bytes=99999999999999999999-', 416, 'bytes */13', [0, 0]],
    ['bytes=3-99999999999999999999', 206, 'bytes 3-12/13', [3, 13]],
    [`bytes=${'0-1,'.repeat(100)}4-5`, 200, null, [0, 13]],
    ['bytes=5-2', 200, null, [0, 13]],
    ['bytes=0-1,4-5', 200, null, [0, 13]],
    ['lines=0-1', 200, null, [0, 13]],
    ['bytes=-', 200, null, [0, 13]],
  ] as const)('in part: %s', async (range, status, contentRange, [from, to]) => {
    await using app = await openRealApp();
    const { submit, url } = await submitted(app, { 'a.bin': BYTES });
    await submit();
    const answer = await get(url('a.bin'), { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange]);
    expect(await bytesOf(answer)).toEqual(BYTES.subarray(from, to));
  });

  it('gives a part only of the version that the client has begun with', async () => {
    await using app = await openRealApp();
    const { made, submit, url } = await submitted(app, { 'a.bin': BYTES });
    await submit();
    const current = { range: 'bytes=1-', 'if-range': `"${made[0]?.sha256}"` };
    expect(await bytesOf(await get(url('a.bin'), current))).toEqual(BYTES.subarray(1));
    const older = await get(url('a.bin'), { ...current, 'if-range': '"older"' });
    expect(await bytesOf(older)).toEqual(BYTES);
  });

  it('is not sent again to whoever names it as known', async () => {
    await using app = await openRealApp();
    const { made, submit, url } = await submitted(app, { 'a.bin': BYTES });
    await submit();
    const etag = `"${made[0]?.sha256}"`;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(url('a.bin'), { 'if-none-match': known, range: 'bytes=0-1' });
      expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, etag, '']);
    }
    expect((await get(url('a.bin'), { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('counts among the streams of its key, for as long as the client takes', async () => {
    await using app = await openRealApp({}, { streamBounds: { most: 10, mostOfKey: 1, stuckMs: 60_000 } });
    const { submit, url } = await submitted(app, { 'a.bin': BYTES });
    await submit();
    const open = await app.board.job([{ key: 'b', title: 'B' }]);
    const stream = await get(`${app.url}/v1/jobs/${open.jobId}/events`, { accept: 'text/event-stream' });
    const refused = await get(url('a.bin'));
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'rate_limited' }]);
    expect((await get(url('a.bin'), {}, 'HEAD')).status).toBe(200);
    await stream.body?.cancel();
    await vi.waitUntil(async () => (await get(url('a.bin'))).status === 200, 5000);
    expect(await bytesOf(await get(url('a.bin')))).toEqual(BYTES);
  });

  it('whose content the store has lost a part of is never taken for the whole', async () => {
    await using app = await openRealApp();
    const { jobId, made, submit, url } = await submitted(app, { 'a.txt': 'ten bytes!' });
    await submit();
    await truncate(join(app.rig.folder, 'artifacts', jobId, made[0]?.sha256 ?? ''), 5);
    const read = async (range?: string) =>
      (await get(url('a.txt'), range === undefined ? {} : { range })).text();
    await expect(read()).rejects.toThrow('terminated');
    await expect(read('bytes=1-9')).rejects.toThrow('terminated');
    expect(JSON.parse(await read('bytes=6-9'))).toMatchObject({ code: 'unavailable' });
  });

  it('finds any name that a file may have', async () => {
    await using app = await openRealApp();
    const names = [
      'файл 1.txt',
      '100%.csv',
      'a%2fb.txt',
      'q?x#y&z.txt',
      `${'d/'.repeat(100)}deep.md`,
      'ü"; x',
    ];
    const files = Object.fromEntries(names.map((name) => [name, `I am ${name}`]));
    const { submit, url } = await submitted(app, files);
    await submit();
    for (const name of names) {
      const answer = await get(url(name.split('/').map(encodeURIComponent).join('/')));
      expect([answer.status, await answer.text()]).toEqual([200, `I am ${name}`]);
    }
  });

  it('is a name and no place on disk: what leads elsewhere is not found', async () => {
    await using app = await openRealApp();
    const { jobId, made, submit } = await submitted(app, { 'a.txt': 'x', 'd/b.txt': 'y' });
    await submit();
    const sha256 = made[0]?.sha256 ?? '';
    for (const name of [
      '../../../../etc/passwd',
      '%2e%2e/%2e%2e/etc/passwd',
      '..%2f..%2fetc%2fpasswd',
      '%252e%252e%252fetc',
      'd/../a.txt',
      'd/%2e%2e/a.txt',
      './a.txt',
      '/a.txt',
      'a.txt/',
      'a.txt%00',
      '..\\a.txt',
      '',
      sha256,
      `../${jobId}/${sha256}`,
      '%zz',
    ]) {
      // Raw: fetch would tidy the path up.
      const answer = await app.raw(`/v1/jobs/${jobId}/artifacts/${name}`, { headers: AS_ADMIN });
      expect([name, answer.status]).toEqual([name, 404]);
    }
  });

  it('is for keys of its project', async () => {
    await using app = await openRealApp();
    const { made, submit, url, jobId } = await submitted(app, { 'a.txt': 'x' });
    await submit();
    const list = `${app.url}/v1/jobs/${jobId}/artifacts`;
    for (const address of [url('a.txt'), url(made[0]?.ref ?? ''), list]) {
      expect((await fetch(address)).status).toBe(401);
      const own = await get(address, bearer(READ_KEY));
      expect([own.status, (await bytesOf(own)).length > 0]).toEqual([200, true]);
      const foreign = await get(address, bearer(PROJECT_ADMIN_KEY));
      expect([foreign.status, await foreign.json()]).toMatchObject([404, { code: 'not_found' }]);
    }
  });
});

describe('the list of files', () => {
  it('has what shows, page by page, and the client reads both', async () => {
    await using app = await openRealApp();
    const files = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`f${i}.txt`, `content ${i}`]));
    const { jobId, made, submit } = await submitted(app, files);
    const client = createClient({ baseUrl: app.url, apiKey: ADMIN_KEY });
    expect(await client.artifacts.list(jobId)).toMatchObject({ artifacts: [] });
    await submit();
    const found: Artifact[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
      const page: ArtifactList = await client.artifacts.list(jobId, {
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.artifacts);
      cursor = page.nextCursor;
    }
    expect(found).toEqual(made);
    expect(await textOf(await client.artifacts.download(jobId, 'f3.txt'))).toBe('content 3');
    expect(await textOf(await client.artifacts.download(jobId, 'f3.txt', { offset: 8 }))).toBe('3');
    await expect(client.artifacts.download(jobId, 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(client.artifacts.list(jobId, { cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});

describe('a range of an empty file', () => {
  it('is never satisfiable, and without one the file is', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRange(undefined, 0)).toBeUndefined();
  });
});
