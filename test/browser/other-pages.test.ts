/** The pages of two runs, of an audit log, and of what happens now, in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writePage } from '../../cli/page/write.ts';
import { followCluster } from '../../cli/start/live.ts';
import type { TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { createCluster } from '../../simulator/world.ts';
import { launch, openFile, reasonToSkip } from './chromium.ts';
import { runForPage, scenariosIn } from './runs.ts';

const skipped = reasonToSkip();

describe.skipIf(skipped !== undefined)(`other pages${skipped === undefined ? '' : ` (skipped: ${skipped})`}`, () => {
  let browser: Browser;
  let folder: string;
  let trace: readonly TraceLine[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-pages-'));
    browser = await launch();
    const [scenario] = scenariosIn('examples/scenarios/repair-drains-before-it-terminates.yaml');
    if (scenario === undefined) throw new Error('there is no scenario');
    trace = traceOf(await runForPage(scenario));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('show two runs side by side: each node that differs has a lane of each', async () => {
    const node = trace.find(line => line.kind === 'audit' && line.about.kind === 'Node')?.['name'];
    const other = trace.filter(line => line.kind !== 'audit');
    const file = join(folder, 'both.html');
    await writePage(file, 'both', { lines: trace, other, runs: ['a.yaml', 'b.yaml'], notices: [] });
    const { page, complaints } = await openFile(browser, file);
    expect(await page.locator('#verdict').innerText()).toMatch(/^A a\.yaml → B b\.yaml: /);
    expect(await page.locator(`.row.lane[data-node="${String(node)} A"]`).count()).toBe(1);
    expect(await page.locator(`.row.lane[data-node="${String(node)} B"]`).count()).toBe(1);
    expect(await page.locator('#differences').innerText()).toContain('What differs');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('show an audit log, and say how many lines were left out', async () => {
    const file = join(folder, 'audit.html');
    await writePage(file, 'log', {
      lines: trace.filter(line => line.kind === 'audit'),
      notices: ['3 lines of log left out'],
    });
    const { page, complaints } = await openFile(browser, file);
    expect(await page.locator('.notice').innerText()).toBe('3 lines of log left out');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.getElementById('explain')?.dataset['text'] !== undefined);
    expect(await page.locator('#explain').innerText()).toContain('explain needs the cluster or a simulation');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('show what happens now, with explain, from the one server that they come from', async () => {
    const clock = { now: () => toEpochMs(Date.now()) };
    const core = createCluster(clock);
    const live = followCluster(core, clock);
    const server = await live.listen();
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', error => complaints.push(error.message));
    page.on('request', request => {
      if (!request.url().startsWith(server.url)) complaints.push(request.url());
    });
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    await page.goto(server.url);
    await page.locator('[data-node="n1"], .row.fold').first().waitFor();
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } });
    live.hear({
      audit: true,
      function: 'repair',
      decision: 'blocked',
      reason: 'ZoneOutage',
      message: '7 of 7',
      kind: 'Node',
      name: 'n2',
    });
    await page.locator('[data-node="n2"]').waitFor();
    await page.locator('[data-node="n2"]').click();
    await page.waitForFunction(() => document.getElementById('explain')?.dataset['text'] !== undefined);
    expect(await page.locator('#explain').innerText()).toContain('n2');
    expect(complaints).toEqual([]);
    await page.close();
    await server.close();
  });
});
