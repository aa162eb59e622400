import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JobBody } from '@crewboard/contracts';
import { chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { API_KEY, EXAMPLES, openLocalStack } from '../support/local-stack.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const Chunk = z.object({ output: z.array(z.object({ type: z.string(), code: z.string() })).length(1) });

/** The page's script: the client with all that it needs, as a bundler makes it. */
async function bundle(): Promise<string> {
  const built: unknown = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { conditions: ['source', 'browser', 'module', 'import'] },
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

/** A page of the API's own origin with `script` in it: only the page and its script are made up, the rest is real. */
async function openPage(page: Page, origin: string, script: string): Promise<void> {
  await page.route(`${origin}/page.html`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><script src="/page.js"></script>' }),
  );
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

test.skipIf(!existsSync(CHROMIUM))(`a page runs the whole example job (needs ${CHROMIUM})`, async () => {
  await using stack = await openLocalStack();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await openPage(page, stack.url, await bundle());
    const call = [API_KEY, JSON.stringify(await exampleBody())].map((text) => JSON.stringify(text));
    const told: unknown = await page.evaluate(
      `crewboardPage.runJob(location.origin, ${call[0]}, JSON.parse(${call[1]}))`,
    );
    expect(told).toMatchObject({
      status: 'succeeded',
      output: { totals: { pages: 17 } },
      refusal: 'terminal',
    });
    const { events, lines } = z
      .object({ events: z.array(z.string()), lines: z.array(z.string()) })
      .parse(told);
    expect(events[0]).toBe('job.submitted');
    expect(events.at(-1)).toBe('job.succeeded');
    expect(lines).toHaveLength(18);
    expect(lines.filter((line) => line.startsWith('completed '))).toHaveLength(18);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});
