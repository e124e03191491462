/**
 * Makes the pictures of the documents: `npm run pictures [NAME...]`. Each is a page as its command writes it, light and dark. WebP,
 * because a PNG of the same page has twice its size.
 */
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { writePage } from '../../cli/page/write.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { runHere } from '../cli/run-curfew.ts';
import { launch, reasonToSkip } from './chromium.ts';
import { serve, shellBlocksOf } from '../docs/served.ts';
import { runForPage, scenariosIn } from './runs.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
/** Of a hundred: letters stay sharp, and no picture has 200 kB. */
const QUALITY = 70;
const BAD_DAY = 'examples/scenarios/bad-day.yaml';
const POLICIES = 'examples/scenarios/bad-day/policies.yaml';

interface Picture {
  readonly name: string;
  /** What of the page is looked at: the fragment of its address, in which `NOW` is the instant when the page is open. */
  readonly view: string;
  readonly height: number;
  /** Makes the page. */
  open(folder: string): Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** The page that a command writes with `--html`. */
const writtenBy =
  (...args: readonly string[]): Picture['open'] =>
  async folder => {
    const file = join(folder, 'page.html');
    const { code, stderr } = await runHere([...args, '--html', file]);
    if (code !== 0) throw new Error(stderr);
    return { url: `file://${file}`, close: () => Promise.resolve() };
  };

/** What the reader of docs/guides/getting-started.md sees, after the block that has this in it. */
const liveAfter =
  (mark: string): Picture['open'] =>
  async () => {
    const blocks = shellBlocksOf('docs/guides/getting-started.md').filter(({ text }) => !text.startsWith('npm '));
    const served = await serve();
    try {
      for (const { text } of blocks.slice(0, blocks.findIndex(block => block.text.includes(mark)) + 1)) {
        const { code, output } = await served.run(text);
        if (code !== 0) throw new Error(output);
      }
    } catch (error) {
      await served.stop();
      throw error;
    }
    return { url: served.page, close: () => served.stop() };
  };

const PICTURES: readonly Picture[] = [
  { name: 'live', view: 'node=node-2&at=NOW', height: 800, open: liveAfter('curfew.dev/do-not-repair=true') },
  {
    name: 'bad-day',
    view: 'node=batch-1&at=2024-11-01T18:32:00Z&from=2024-11-01T14:55:00Z&to=2024-11-01T22:47:00Z&open=web-5,batch-1',
    height: 1100,
    open: writtenBy('simulate', BAD_DAY),
  },
  {
    name: 'compare',
    view: 'from=2024-11-01T14:55:00Z&to=2024-11-01T20:00:00Z',
    height: 760,
    open: async folder => {
      const edited = join(folder, 'my-policies.yaml');
      // As docs/guides/try-a-policy.md does it.
      const text = readFileSync(POLICIES, 'utf8');
      writeFileSync(edited, text.replace('defaultTolerationDuration: 30m', 'defaultTolerationDuration: 10m'));
      return writtenBy('compare', BAD_DAY, '--policies', POLICIES, edited)(folder);
    },
  },
  {
    name: 'hook',
    view: 'node=n1&at=2024-11-01T15:02:00Z&from=2024-11-01T15:00:00Z&to=2024-11-01T15:05:00Z&open=n1',
    height: 800,
    open: async folder => {
      const hooks = scenariosIn('examples/scenarios/finalizer-hooks.yaml');
      const scenario = hooks.find(({ name }) => name === 'a-hook-before-the-end-of-the-instance');
      if (scenario === undefined) throw new Error('there is no scenario of a hook');
      const file = join(folder, 'hook.html');
      const lines = traceOf(await runForPage({ ...scenario, expectations: [] }));
      await writePage(file, 'hook', { lines, notices: [] });
      return { url: `file://${file}`, close: () => Promise.resolve() };
    },
  },
];

const reason = reasonToSkip();
const asked = process.argv.slice(2);
if (reason === undefined) await draw(PICTURES.filter(({ name }) => asked.length === 0 || asked.includes(name)));
else process.stdout.write(`no pictures: ${reason}\n`);

async function draw(pictures: readonly Picture[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-pictures-'));
  mkdirSync(FOLDER, { recursive: true });
  const browser = await launch();
  try {
    for (const picture of pictures) {
      const { url, close } = await picture.open(folder);
      try {
        const view = picture.view.replace('NOW', new Date().toISOString());
        for (const theme of ['light', 'dark'] as const) await drawOne(browser, { ...picture, view }, url, theme);
      } finally {
        await close();
      }
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

async function drawOne(browser: Browser, { name, view, height }: Picture, url: string, theme: 'light' | 'dark') {
  const page = await browser.newPage({ viewport: { width: 1600, height }, colorScheme: theme });
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(error.message));
  await page.goto(`${url}#${view}`);
  await page.locator('.row.lane').first().waitFor();
  if (view.includes('node='))
    await page.waitForFunction(() => document.getElementById('explain')?.dataset['text'] !== undefined);
  await page.waitForFunction(() => document.fonts.status === 'loaded');
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
  const path = join(FOLDER, `${name}-${theme}.webp`);
  const bytes = await webpOf(page);
  writeFileSync(path, bytes);
  process.stdout.write(`${path} ${(bytes.length / 1000).toFixed(0)} kB\n`);
  await page.close();
}

async function webpOf(page: Page): Promise<Buffer> {
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  return Buffer.from(data, 'base64');
}
