import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EventList, JobBody } from '@crewboard/contracts';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HAS_CHROMIUM, openChromium } from '../support/chromium.ts';
import { API_KEY, EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { freePort } from '../support/redis-server.ts';
import { openCuttingProxy } from './cutting-proxy.ts';

const PAGE = '<!doctype html><script src="/page.js"></script>';

const Told = z.looseObject({ id: z.string(), events: z.array(z.string()), lines: z.array(z.string()) });

const Chunk = z.object({ output: z.array(z.object({ type: z.string(), code: z.string() })).length(1) });

/** The page's script: the client with all that it needs, as a bundler makes it. */
async function bundle(): Promise<string> {
  const built: unknown = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['@crewboard/source', 'browser', 'module', 'import'] },
    build: {
      write: false,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL('page.ts', import.meta.url)),
        formats: ['iife'],
        name: 'crewboardPage',
      },
    },
  });
  const [output] = z.array(Chunk).length(1).parse(built);
  return output?.output[0]?.code ?? '';
}

/** A server of its own with the page: a browser keeps a page that was made up from this machine's addresses. */
async function openSite(script: string) {
  const server = createServer((request, answer) => {
    const isPage = request.url === '/page.html';
    answer.writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' });
    answer.end(isPage ? PAGE : script);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page of the API's own origin with `script` in it: only the page and its script are made up, the rest is real. */
async function openPage(page: Page, origin: string, script: string): Promise<void> {
  await page.route(`${origin}/page.html`, (route) => route.fulfill({ contentType: 'text/html', body: PAGE }));
  await page.route(`${origin}/page.js`, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: script }),
  );
  await page.goto(`${origin}/page.html`);
}

async function exampleBody(): Promise<JobBody> {
  const body: unknown = JSON.parse(await readFile(join(EXAMPLES, 'docs-review.json'), 'utf8'));
  return JobBody.parse({ ...z.looseObject({}).parse(body), workspace: { path: join(EXAMPLES, 'docs') } });
}

test('the bundle of the client knows nothing of Node', async () => {
  const code = await bundle();
  expect(code).toContain('crewboardPage');
  expect(code).not.toMatch(/\bprocess\.|\bBuffer\b|node:|vite-browser-external|\brequire\(/);
});

/** A browser with one page; its errors that nobody caught. */
async function openBrowser() {
  const browser = await openChromium();
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  return { page, errors, [Symbol.asyncDispose]: () => browser.close() };
}

/** Runs a job from the page with the client at `baseUrl`. */
function runJob(page: Page, baseUrl: string, body: JobBody): Promise<unknown> {
  const [url, key, text] = [baseUrl, API_KEY, JSON.stringify(body)].map((value) => JSON.stringify(value));
  return page.evaluate(`crewboardPage.runJob(${url}, ${key}, JSON.parse(${text}))`);
}

async function logOf({ client }: LocalStack, jobId: string): Promise<string[]> {
  const log: string[] = [];
  for (let after: string | undefined = '0-0'; after !== undefined; ) {
    const page: EventList = await client.jobs.listEvents(jobId, { after, limit: 100 });
    log.push(...page.events.map(({ id, type }) => `${id} ${type}`));
    after = page.nextCursor;
  }
  return log;
}

// Without the browser these are skipped; CI installs it.
describe.skipIf(!HAS_CHROMIUM)('in Chromium', () => {
  test('a page runs the whole example job, its event stream being cut in the middle of messages', async () => {
    await using stack = await openLocalStack();
    await using proxy = await openCuttingProxy(stack.url, 4000);
    await using browser = await openBrowser();
    await openPage(browser.page, proxy.url, await bundle());
    const told = Told.parse(await runJob(browser.page, proxy.url, await exampleBody()));
    expect(told).toMatchObject({
      status: 'succeeded',
      output: { totals: { pages: 17 } },
      refusal: 'terminal',
    });
    expect(told.lines).toHaveLength(18);
    expect(told.lines.filter((line) => line.startsWith('completed '))).toHaveLength(18);
    expect(told.events).toEqual(await logOf(stack, told.id));
    expect(proxy.cuts()).toBeGreaterThanOrEqual(3);
    expect(browser.errors).toEqual([]);
  });

  test('a page of another origin runs a job where the server lets it in, and learns nothing elsewhere', async () => {
    await using site = await openSite(await bundle());
    await using open = await openLocalStack({ variables: { CREWBOARD_CORS_ORIGINS: site.origin } });
    await using closed = await openLocalStack({ worker: false });
    await using browser = await openBrowser();
    await browser.page.goto(`${site.origin}/page.html`);
    const body: JobBody = { tasks: [{ title: 'One' }] };
    expect(await runJob(browser.page, open.url, body)).toMatchObject({ status: 'succeeded' });
    await expect(runJob(browser.page, closed.url, body)).rejects.toThrow(/unavailable: Cannot reach/);
  });
});
