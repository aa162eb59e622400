import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, openChromium } from '../support/chromium.ts';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { openApiOfRoutes } from '../support/openapi.ts';

const operationCount = Object.values(openApiOfRoutes().paths).flatMap((path) => Object.keys(path)).length;

/** A new window; what it asks for, and what goes wrong in it after the login, is collected. */
async function openPage(browser: Browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1600 } });
  const page = await context.newPage();
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
  });
  page.on('console', (message) => {
    // The browser's own line for the 401 that brings the login page.
    if (message.type() === 'error' && !/status of 401/.test(message.text())) problems.push(message.text());
  });
  return { page, problems, hosts, [Symbol.asyncDispose]: () => context.close() };
}

describe.skipIf(!HAS_CHROMIUM)('the docs page in a browser', { timeout: 60_000 }, () => {
  let browser: Browser;
  let stack: LocalStack;
  beforeAll(async () => {
    browser = await openChromium();
    stack = await openLocalStack({ worker: false });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await stack[Symbol.asyncDispose]();
  });

  test('shows every operation after the login, asks no other host, and calls the server', async () => {
    await using window = await openPage(browser);
    const { page, problems, hosts } = window;
    const asked = await page.goto(`${stack.url}/docs`);
    expect(asked?.status()).toBe(401);
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(`${stack.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('.opblock').count()).toBe(operationCount);
    // Tried from the page: the login's cookie goes with it.
    const listJobs = page.locator('#operations-Jobs-listJobs');
    await listJobs.locator('.opblock-summary-control').click();
    await listJobs.getByRole('button', { name: 'Try it out' }).click();
    await listJobs.getByRole('button', { name: 'Execute' }).click();
    const answer = listJobs.locator('.live-responses-table .response-col_status');
    expect((await answer.last().textContent())?.trim()).toMatch(/^200/);
    expect(problems).toEqual([]);
    expect([...hosts]).toEqual([new URL(stack.url).host]);
  });
});
