import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_CHROMIUM, openChromium, openPage } from '../support/chromium.ts';
import { API_KEY, type LocalStack, openLocalStack } from '../support/local-stack.ts';

const QUEUES = '/admin/queues';

const keyField = (page: Page) => page.getByLabel('API key');
const submit = (page: Page) => page.getByRole('button', { name: 'Log in' });

describe.skipIf(!HAS_CHROMIUM)('the login page in a browser', { timeout: 60_000 }, () => {
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

  test.each([true, false])('lets a person in by the keyboard alone (scripts: %s)', async (scripts) => {
    await using window = await openPage(browser, { javaScriptEnabled: scripts });
    const { page, problems } = window;
    const asked = await page.goto(`${stack.url}${QUEUES}`);
    expect(asked?.status()).toBe(401);
    expect(await page.locator('input#key:focus').count()).toBe(1);
    await page.keyboard.type('wrong-key-0123456789');
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).toBe('This server does not know that key.');
    expect(await keyField(page).getAttribute('aria-invalid')).toBe('true');
    expect(await keyField(page).getAttribute('aria-describedby')).toBe('error help');
    await keyField(page).fill(API_KEY);
    await page.keyboard.press('Tab');
    expect(await page.locator('button:focus').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stack.url}${QUEUES}`);
    expect(await page.title()).toBe('Crewboard queues');
    if (scripts) await page.getByText('crewboard').first().waitFor();
    await page.goto(`${stack.url}/login`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${stack.url}/login`);
    expect((await page.goto(`${stack.url}${QUEUES}`))?.status()).toBe(401);
    expect(problems).toEqual([]);
  });

  test('a person pauses a queue in Bull Board after the login', async () => {
    await using window = await openPage(browser);
    const { page } = window;
    await page.goto(`${stack.url}${QUEUES}`);
    await keyField(page).fill(API_KEY);
    await submit(page).click();
    await page.waitForURL(`${stack.url}${QUEUES}`);
    const status = await page.evaluate(async (path) => {
      const answer = await fetch(path, { method: 'PUT' });
      return answer.status;
    }, `${QUEUES}/api/queues/crewboard.sim.tasks/pause`);
    expect(status).toBe(200);
  });

  test('is styled under its own policy, and fits a narrow window', async () => {
    await using window = await openPage(browser);
    const { page, problems } = window;
    await page.setViewportSize({ width: 320, height: 480 });
    await page.goto(`${stack.url}/login`);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(320);
    const colour = await page.evaluate("getComputedStyle(document.querySelector('button')).backgroundColor");
    expect(colour).toBe('rgb(29, 78, 216)');
    expect(problems).toEqual([]);
  });
});
