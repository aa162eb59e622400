import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, openChromium, openPage } from '../support/chromium.ts';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { openApiOfRoutes } from '../support/openapi.ts';

const operationCount = Object.values(openApiOfRoutes().paths).flatMap((path) => Object.keys(path)).length;

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
    await using window = await openPage(browser, { viewport: { width: 1280, height: 1600 } });
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
