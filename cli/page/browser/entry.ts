/** The page of a day as Curfew makes it: with its own `explain`, on the cluster as it was. */
import { toEpochMs } from '../../../shared/domain/time.ts';
import { explain } from '../../explain.ts';
import { embeddedData, followServer } from '../../../packages/timeline/page/data.ts';
import { startPage, type Page } from '../../../packages/timeline/page/page.ts';
import type { ObjectHistories } from '../../../packages/timeline/src/day/objects.ts';
import type { TraceLine } from '../../../packages/timeline/src/trace/lines.ts';
import { pastCluster } from './past-cluster.ts';

declare global {
  // For who looks at the page from outside: a test, or the console.
  var curfewPage: Page | undefined;
}

const explainPast = (objects: ObjectHistories, node: string, time: number): Promise<string | undefined> =>
  explain({ kubernetes: pastCluster(objects, time), now: toEpochMs(time) }, { kind: 'node', name: node }, false);

const data = await embeddedData();
if (data !== undefined) globalThis.curfewPage = startPage({ data, explain: explainPast });
else {
  let lines: readonly TraceLine[] = [];
  const page = (): Page | undefined => globalThis.curfewPage;
  followServer(
    'events',
    more => {
      lines = more[0]?.kind === 'trace' ? more : [...lines, ...more];
      if (page() === undefined)
        globalThis.curfewPage = startPage({ data: { lines, notices: [] }, explain: explainPast });
      else page()?.setLines(lines);
    },
    isThere => void (document.documentElement.dataset['connection'] = isThere ? 'open' : 'lost'),
  );
}
