/** The page of a day in a real browser: what it shows is what the trace says, and it asks for nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onScenario } from '../../cli/explain/on-scenario.ts';
import { explain } from '../../cli/explain.ts';
import { writePage } from '../../cli/page/write.ts';
import type { Page as DayPage } from '../../packages/timeline/page/page.ts';
import type { TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { launch, openFile, reasonToSkip } from './chromium.ts';
import { runForPage, scenariosIn } from './runs.ts';

const skipped = reasonToSkip();
const BAD_DAY = 'examples/scenarios/bad-day.yaml';

declare global {
  // What the page offers to who looks at it from outside.
  var curfewPage: DayPage | undefined;
}

/** `kind hh:mm:ss hh:mm:ss|open label` of each bar of a lane. */
const barsOf = (page: Page, node: string): Promise<readonly string[]> =>
  page.evaluate(name => {
    const clock = (time: number): string => new Date(time).toISOString().slice(11, 19);
    const lane = globalThis.curfewPage?.day.lanes.find(each => each.name === name);
    return (lane?.bars ?? []).map(
      ({ kind, from, to, isOpen, label }) => `${kind} ${clock(from)} ${isOpen ? 'open' : clock(to)} ${label}`,
    );
  }, node);

const explained = async (page: Page): Promise<string> => {
  await page.waitForFunction(() => document.getElementById('explain')?.dataset['text'] !== undefined);
  return page.evaluate(() => document.getElementById('explain')?.dataset['text'] ?? '');
};
/** What `explain` says of a node by the objects of the cluster alone, as without `--stack`: a trace has no records. */
const says = (node: string, at: string): Promise<string | undefined> =>
  onScenario(BAD_DAY, at, ({ kubernetes, now }) => explain({ kubernetes, now }, { kind: 'node', name: node }, false));

describe.skipIf(skipped !== undefined)(`the page${skipped === undefined ? '' : ` (skipped: ${skipped})`}`, () => {
  let browser: Browser;
  let folder: string;
  let trace: readonly TraceLine[];
  let file: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-page-'));
    file = join(folder, 'day.html');
    browser = await launch();
    const [badDay] = scenariosIn(BAD_DAY);
    if (badDay === undefined) throw new Error(`${BAD_DAY} holds no scenario`);
    trace = traceOf(await runForPage(badDay));
    await writePage(file, 'bad-day', { lines: trace, notices: [] });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('opens from disk, says nothing on the console, and asks for nothing', async () => {
    const { page, complaints } = await openFile(browser, file);
    expect(await page.title()).toBe('bad-day');
    expect(await page.locator('.row.lane').count()).toBeGreaterThan(10);
    // What it would ask for, its own policy forbids.
    await page.evaluate(() => fetch('https://example.invalid/').catch(() => undefined));
    expect(complaints.filter(text => text.startsWith('request') || text.startsWith('error'))).toEqual([]);
    expect(
      complaints.filter(text => !text.includes('Content Security Policy') && !text.includes('example.invalid')),
    ).toEqual([]);
    await page.close();
  });

  it('draws the bad day as it was', async () => {
    const { page } = await openFile(browser, file);
    expect(await barsOf(page, 'web-0')).toEqual([
      'unhealthy 15:10:00 16:10:00 Ready=Unknown',
      'tolerated 15:10:00 15:15:00 Ready=Unknown',
      'held 15:15:00 16:10:01 ZoneOutage',
    ]);
    expect(await barsOf(page, 'gpu-1')).toEqual([
      'unhealthy 18:20:00 18:35:05 AcceleratedHardwareReady=False',
      'tolerated 18:20:00 18:25:00 AcceleratedHardwareReady=False',
      'reboot 18:25:00 18:35:00 Reboot',
      'termination 18:35:00 18:35:05 Terminate',
    ]);
    expect(await barsOf(page, 'gpu-3')).toEqual(['drain 22:00:00 open Drain']);
    await page.close();
  });

  it.each([
    [
      'repair-drains-before-it-terminates.yaml',
      /^(unhealthy|tolerated|drain|termination) /,
      ['unhealthy', 'tolerated', 'drain'],
    ],
    ['do-not-disrupt-clock.yaml', /^protection /, ['protection']],
  ])('draws %s as it was', async (name, bar, kinds) => {
    for (const scenario of scenariosIn(`examples/scenarios/${name}`).slice(0, 2)) {
      const lines = traceOf(await runForPage(scenario));
      const own = join(folder, `${scenario.name}.html`);
      await writePage(own, scenario.name, { lines, notices: [] });
      const { page, complaints } = await openFile(browser, own);
      const nodes = await page.evaluate(() => (globalThis.curfewPage?.day.lanes ?? []).map(lane => lane.name));
      const bars = (await Promise.all(nodes.map(node => barsOf(page, node)))).flat();
      expect(bars.filter(each => bar.test(each)).length).toBeGreaterThan(0);
      expect(kinds.filter(kind => !bars.some(each => each.startsWith(kind)))).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  it('counts in its verdict what the trace says', async () => {
    const { page } = await openFile(browser, file);
    const words = (await page.locator('#verdict').innerText()).replaceAll('\n', ' ');
    const audits = trace.filter(line => line.kind === 'audit');
    const gone = new Set(
      trace.flatMap(line =>
        line.kind === 'object' && line.resource === 'nodes' && line.gone === true ? [line.name] : [],
      ),
    );
    const nodes = new Set(
      trace.flatMap(line => (line.kind === 'object' && line.resource === 'nodes' ? [line.name] : [])),
    );
    const repaired = new Set(
      audits
        .filter(({ decision, details }) => decision === 'repair' && details?.['action'] === 'Terminate')
        .map(({ name }) => name),
    );
    const rebooted = trace.filter(line => line.kind === 'write' && line.verb === 'reboot');
    const requested = [...gone].filter(name => !repaired.has(name));
    const cancelled = audits.filter(
      ({ function: by, decision, reason }) => by === 'drain' && decision === 'end' && reason === 'DrainCancelled',
    );
    const outage = new Set(
      audits
        .filter(({ decision, reason }) => decision === 'blocked' && reason === 'ZoneOutage')
        .map(({ name }) => name),
    );
    const first = Math.min(...audits.filter(({ reason }) => reason === 'ZoneOutage').map(({ t }) => Date.parse(t)));
    const over = Math.max(
      ...audits.filter(({ reason, name }) => reason === 'Healthy' && outage.has(name)).map(({ t }) => Date.parse(t)),
    );
    const pods = audits.flatMap(({ details }) =>
      Array.isArray(details?.['protectedPods']) && details['action'] === 'Terminate' ? details['protectedPods'] : [],
    );
    expect(words).toBe(
      `24 h, ${nodes.size} nodes: ${repaired.size} terminated by repair, ${rebooted.length} of them rebooted first; ${requested.length} terminated on request; ` +
        `${new Set(cancelled.map(({ name }) => name)).size} drain called off ${cancelled.length}×; ` +
        '1 waited for a custom drain: SlurmDrainRequest is not served; 1 still being drained at the end; ' +
        `${outage.size} held by a zone outage for up to ${Math.round((over - first) / 60_000)} min; ${pods.length} protected pod taken`,
    );
    expect([...gone].filter(name => repaired.has(name))).toHaveLength(repaired.size);
    await page.close();
  });

  it('explains a click as the command does, word by word, with the policy lines and the audit line', async () => {
    const { page, complaints } = await openFile(browser, file);
    const box = await page.locator('.lanes canvas').boundingBox();
    const at = await page.evaluate(() => {
      const day = globalThis.curfewPage;
      const row = day?.layout.rows.find(each => each.kind === 'lane' && each.lane.name === 'batch-1');
      const [start, end] = [day?.day.start ?? 0, day?.day.end ?? 1];
      return {
        y: (row?.y ?? 0) - (document.querySelector('.lanes')?.scrollTop ?? 0) + 14,
        share: (Date.parse('2024-11-01T18:31:00Z') - start) / (end - start),
      };
    });
    await page.mouse.click((box?.x ?? 0) + at.share * (box?.width ?? 0), (box?.y ?? 0) + at.y);
    const text = await explained(page);
    const time = await page.evaluate(() => globalThis.curfewPage?.view.time ?? 0);
    expect(await page.locator('.panel .title strong').innerText()).toBe('batch-1');
    expect(text).toBe(await says('batch-1', new Date(time).toISOString()));
    expect((await page.locator('.explain').innerText()).replaceAll(/\s+/g, ' ')).toContain(
      'has been due for repair since 2024-11-01T18:30:00Z',
    );
    expect(await page.locator('.panel pre.json').innerText()).toContain('"reason":"ClusterConcurrencyBudget"');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it.each([
    ['web-0', '2024-11-01T15:12:00Z'],
    ['web-1', '2024-11-01T17:07:30Z'],
    ['gpu-1', '2024-11-01T18:30:00Z'],
    ['web-2', '2024-11-01T19:10:00Z'],
    ['web-5', '2024-11-01T20:01:00Z'],
    ['gpu-3', '2024-11-02T03:00:00Z'],
    ['web-8', '2024-11-02T15:00:00Z'],
  ])('explains any node at any instant as the command does: %s at %s', async (node, at) => {
    const { page } = await openFile(browser, file, { fragment: `node=${node}&at=${at}` });
    expect(await explained(page)).toBe(await says(node, at));
    await page.close();
  });

  it('is used with the keyboard alone', async () => {
    const { page, complaints } = await openFile(browser, file);
    const view = () =>
      page.evaluate(() => ({ ...globalThis.curfewPage?.view, open: [...(globalThis.curfewPage?.view.open ?? [])] }));
    await page.keyboard.press('/');
    await page.keyboard.type('batch-1 18:32');
    await page.keyboard.press('Enter');
    expect(await view()).toMatchObject({ node: 'batch-1', time: Date.parse('2024-11-01T18:32:00Z') });
    await page.keyboard.press('ArrowRight');
    expect(await view()).toMatchObject({ time: Date.parse('2024-11-01T18:35:30Z') });
    await page.keyboard.press('ArrowLeft');
    expect(await view()).toMatchObject({ time: Date.parse('2024-11-01T18:30:00Z') });
    await page.keyboard.press('Enter');
    expect(await view()).toMatchObject({ open: ['batch-1'] });
    const whole = await view();
    await page.keyboard.press('+');
    const near = await view();
    expect((near.to ?? 0) - (near.from ?? 0)).toBe(((whole.to ?? 0) - (whole.from ?? 0)) / 2);
    await page.keyboard.press('0');
    expect(await view()).toMatchObject({ from: whole.from, to: whole.to });
    await page.keyboard.press('ArrowDown');
    expect((await view()).node).not.toBe('batch-1');
    await page.keyboard.press('f');
    await page.keyboard.type('ZoneOutage');
    expect(await page.locator('.tools .count').innerText()).toBe('7 of 7 in the time window');
    await page.keyboard.press('Escape');
    expect(await page.locator('.panel').isHidden()).toBe(true);
    await page.keyboard.press('?');
    expect(await page.locator('#keys').isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('keeps its view in the address, so that it can be sent', async () => {
    const fragment =
      'node=gpu-1&at=2024-11-01T18:30:00Z&from=2024-11-01T18:00:00Z&to=2024-11-01T19:00:00Z&open=gpu-1&function=repair&theme=dark';
    const { page } = await openFile(browser, file, { fragment });
    expect(await page.evaluate(() => location.hash.slice(1))).toBe(fragment);
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    expect(await page.locator('.row.lane.on').innerText()).toContain('gpu-1');
    await page.close();
  });

  it('narrows the page down to what a number counts', async () => {
    const { page } = await openFile(browser, file);
    await page.locator('.verdict button', { hasText: /^2$/ }).click();
    expect(
      await page.evaluate(() => (globalThis.curfewPage?.layout.order ?? []).map(({ name }) => name).toSorted()),
    ).toEqual(['web-2', 'web-5']);
    await page.close();
  });

  it('is printed light, with all lanes and the table', async () => {
    const { page } = await openFile(browser, file, { theme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');
    const pdf = await page.pdf({ format: 'A3', landscape: true });
    expect(pdf.length).toBeGreaterThan(20_000);
    await page.close();
  });
});

it('says why it is skipped', () => {
  if (skipped !== undefined) process.stdout.write(`The browser suite was skipped: ${skipped}\n`);
  expect(skipped === undefined || process.env['CI'] !== 'true').toBe(true);
});
