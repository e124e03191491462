/** Makes the pictures of the documents, of the bad day as the page shows it: `npm run pictures`. */
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePage } from '../../cli/page/write.ts';
import { traceOf } from '../../simulator/checked-trace.ts';
import { launch, openFile, reasonToSkip } from './chromium.ts';
import { runForPage, scenariosIn } from './runs.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const VIEW =
  'node=batch-1&at=2024-11-01T18:32:00Z&from=2024-11-01T14:55:00Z&to=2024-11-01T22:47:00Z&open=web-5,batch-1';

const reason = reasonToSkip();
if (reason === undefined) await draw();
else process.stdout.write(`no pictures: ${reason}\n`);

async function draw(): Promise<void> {
  const [scenario] = scenariosIn('examples/scenarios/bad-day.yaml');
  if (scenario === undefined) throw new Error('there is no bad day');
  const folder = mkdtempSync(join(tmpdir(), 'curfew-pictures-'));
  mkdirSync(FOLDER, { recursive: true });
  const browser = await launch();
  try {
    const file = join(folder, 'day.html');
    await writePage(file, 'bad-day', {
      lines: traceOf(await runForPage({ ...scenario, expectations: [] })),
      notices: [],
    });
    for (const theme of ['light', 'dark'] as const) {
      const { page, complaints } = await openFile(browser, file, { fragment: VIEW, theme });
      await page.waitForFunction(() => document.getElementById('explain')?.dataset['text'] !== undefined);
      await page.waitForFunction(() => document.fonts.status === 'loaded');
      if (complaints.length > 0) throw new Error(complaints.join('\n'));
      const path = join(FOLDER, `bad-day-${theme}.png`);
      await page.screenshot({ path });
      process.stdout.write(`${path}\n`);
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}
