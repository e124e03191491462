/**
 * How fast the page of 1,000 nodes and 24 hours is: prints the first paint and the frames a second while zooming. `npm run measure:page`,
 * or `npm run measure:page -- FILE.html` for a page of your own.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writePage } from '../../cli/page/write.ts';
import { traceLine, type TraceLine } from '../../packages/timeline/src/trace/lines.ts';
import { launch, reasonToSkip } from './chromium.ts';

const NODES = 1000;
const PODS_PER_NODE = 5;
const FRAMES = 60;
const START = Date.parse('2024-11-01T15:00:00Z');
const MINUTE = 60_000;

const iso = (minute: number): string => new Date(START + minute * MINUTE).toISOString();

/** Each node falls ill two or three times, some are repaired. */
function largeDay(): readonly TraceLine[] {
  const lines: object[] = [];
  for (let index = 0; index < NODES; index += 1) {
    const name = `node-${index}`;
    const ref = { kind: 'object', group: '', version: 'v1', resource: 'nodes', name };
    const labels = {
      'karpenter.sh/nodepool': `pool-${index % 5}`,
      'topology.kubernetes.io/zone': `us-west-2${'abc'[index % 3] ?? 'a'}`,
    };
    const ready = (status: string, minute: number): object => ({
      conditions: [{ type: 'Ready', status, lastTransitionTime: iso(minute) }],
    });
    const object = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `u${index}`, labels, creationTimestamp: iso(0) },
      spec: { providerID: `aws:///a/${name}` },
      status: ready('True', 0),
    };
    lines.push({ t: iso(0), ...ref, object });
    for (let pod = 0; pod < PODS_PER_NODE; pod += 1) {
      const metadata = {
        name: `${name}-${pod}`,
        namespace: 'prod',
        uid: `p${index}-${pod}`,
        creationTimestamp: iso(0),
      };
      lines.push({
        t: iso(0),
        kind: 'object',
        group: '',
        version: 'v1',
        resource: 'pods',
        namespace: 'prod',
        name: metadata.name,
        object: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: name }, status: { phase: 'Running' } },
      });
    }
    const audit = (minute: number, decision: string, reason: string, details: object = {}): object => ({
      t: iso(minute),
      kind: 'audit',
      function: 'repair',
      decision,
      reason,
      message: `${reason} of ${name}`,
      name,
      details,
      about: { kind: 'Node', name },
    });
    for (let time = 0; time < 2 + (index % 2); time += 1) {
      const minute = 20 + ((index * 37 + time * 431) % 1300);
      const ill = {
        conditionType: 'Ready',
        conditionStatus: 'False',
        lastTransitionTime: iso(minute),
        dueTime: iso(minute + 30),
      };
      lines.push({ t: iso(minute), ...ref, change: { status: ready('False', minute) } });
      lines.push(
        audit(minute, 'tolerate', 'WithinToleration', ill),
        audit(minute + 30, 'blocked', 'UnhealthyThreshold'),
      );
      lines.push({
        t: iso(minute),
        kind: 'event',
        type: 'Normal',
        reason: 'NodeRepairScheduled',
        message: 'tolerated',
        about: { kind: 'Node', name },
      });
      lines.push(
        { t: iso(minute + 45), ...ref, change: { status: ready('True', minute + 45) } },
        audit(minute + 45, 'ignore', 'Healthy'),
      );
    }
  }
  const sorted = lines.map(line => traceLine.parse(line)).toSorted((a, b) => Date.parse(a.t) - Date.parse(b.t));
  const header = traceLine.parse({
    t: iso(0),
    kind: 'trace',
    version: 1,
    source: 'simulation',
    name: 'large',
    start: iso(0),
    end: iso(1440),
  });
  return [header, ...sorted, traceLine.parse({ t: iso(1440), kind: 'end', problems: [] })];
}

async function measure(given: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-measure-'));
  const browser = await launch();
  try {
    const file = given === undefined ? join(folder, 'large.html') : resolve(given);
    if (given === undefined) await writePage(file, 'large', { lines: largeDay(), notices: [] });
    const page = await browser.newPage({ viewport: { width: 1600, height: 1100 } });
    await page.goto(`file://${file}`);
    await page.waitForFunction(() => 'curfewPage' in globalThis);
    const first = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now(),
    );
    const { nodes, lines } = await page.evaluate(() => {
      const { lanes, lines: all } = globalThis.curfewPage?.day ?? { lanes: [], lines: [] };
      return { nodes: lanes.length, lines: all.length };
    });
    const { frames, drawing } = await page.evaluate(async count => {
      const view = globalThis.curfewPage;
      const next = (): Promise<number> => new Promise(resolve => void requestAnimationFrame(resolve));
      const begun = await next();
      let spent = 0;
      for (let frame = 0; frame < count; frame += 1) {
        const before = performance.now();
        const span = (view?.day.end ?? 0) - (view?.day.start ?? 0);
        if (view !== undefined)
          Object.assign(view.view, {
            from: view.day.start + (span * frame) / (count * 3),
            to: view.day.end - (span * frame) / (count * 3),
          });
        view?.redraw();
        spent += performance.now() - before;
        await next();
      }
      return { frames: (count * 1000) / (performance.now() - begun), drawing: spent / count };
    }, FRAMES);
    process.stdout.write(
      `${nodes} nodes, ${lines} lines, ${(statSync(file).size / 1e6).toFixed(1)} MB: first paint ${Math.round(first)} ms, ` +
        `${frames.toFixed(0)} frames a second while zooming, ${drawing.toFixed(1)} ms of drawing each\n`,
    );
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

const reason = reasonToSkip();
if (reason === undefined) await measure(process.argv[2]);
else process.stdout.write(`not measured: ${reason}\n`);
