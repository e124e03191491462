/** A real browser: Debian's Chromium. In CI it is installed where it is missing; elsewhere the suite is skipped, with its reason. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const placeOf = (): string | undefined =>
  [process.env['CURFEW_CHROMIUM'] ?? '', ...PLACES].find(place => place !== '' && existsSync(place));

/** Why there is no browser; undefined: there is one. */
export function reasonToSkip(): string | undefined {
  if (placeOf() !== undefined) return undefined;
  const how = 'install chromium, or set CURFEW_CHROMIUM to a browser';
  if (process.env['CI'] !== 'true') return `there is no Chromium on this machine: ${how}`;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('apt-get', ['update'], { stdio: 'ignore', env });
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { stdio: 'ignore', env });
  } catch (error) {
    return `Chromium is not there and cannot be installed (${error instanceof Error ? error.message : ''}): ${how}`;
  }
  return placeOf() === undefined ? `Chromium is not where Debian puts it: ${how}` : undefined;
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: placeOf() ?? '',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export interface Watched {
  readonly page: Page;
  /** What a page must never have: messages and errors of the console, and requests. */
  readonly complaints: readonly string[];
}

/** Opens a file, and listens to what the page says and asks for. */
export async function openFile(
  browser: Browser,
  file: string,
  {
    fragment = '',
    theme = 'light',
    width = 1600,
    height = 1100,
  }: {
    readonly fragment?: string;
    readonly theme?: 'light' | 'dark';
    readonly width?: number;
    readonly height?: number;
  } = {},
): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  const complaints: string[] = [];
  page.on('console', message => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', error => complaints.push(`error: ${error.message}`));
  page.on('request', request => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:'))
      complaints.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}${fragment === '' ? '' : `#${fragment}`}`);
  await page.waitForFunction(() => 'curfewPage' in globalThis);
  return { page, complaints };
}
