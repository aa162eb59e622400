import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';

const EXECUTABLE = '/usr/bin/chromium';
/** Nothing of its own goes to the network. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** False where no Chromium is installed. */
export const HAS_CHROMIUM: boolean = existsSync(EXECUTABLE);

/** Starts a headless Chromium. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}

/**
 * Opens a new window. `problems` collects what goes wrong on its pages (errors, failed requests), `hosts` the
 * hosts that they ask; disposing of it closes it.
 */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // What the browser drops itself when it goes on to the next page.
    if (why !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${why}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
  });
  page.on('console', (message) => {
    // The browser's own line for every 401 that a page is answered.
    if (message.type() === 'error' && !/status of 401/.test(message.text())) problems.push(message.text());
  });
  return { page, problems, hosts, [Symbol.asyncDispose]: () => context.close() };
}
