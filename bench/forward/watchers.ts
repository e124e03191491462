/** The two programs that watch the cluster, each started anew for every round. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { findFreePort, LOOPBACK } from '../../packages/local-aws/src/loopback.ts';
import { FAKE_CREDENTIALS } from '../../packages/local-aws/src/fake-credentials.ts';
import { bundle } from '../measure/bundle.ts';
import { startMeasuredProcess, type MeasuredProcess } from '../measure/measured-process.ts';
import { readNodeFlags, readNodeOptions } from './deployed.ts';

const FORWARDER_BUNDLER = join(import.meta.dirname, '..', '..', 'forwarder', 'bundle.ts');
const INFORMER = join(import.meta.dirname, 'informer-process.ts');
const REPORT_USAGE = join(import.meta.dirname, '..', 'measure', 'report-usage.ts');

export interface Watcher {
  readonly process: MeasuredProcess;
  /** Objects listed and watch events received so far. Rejects when it has stopped watching. */
  seen(): Promise<number>;
  /** Changes that were merged into a later one of the same object while that waited for the bus. */
  coalesced(): Promise<number>;
}

export interface WatcherOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  /** PutEvents endpoint. */
  readonly busUrl: string;
  /** Default: `bench`. */
  readonly busName?: string;
}

export interface Programs {
  /** The forwarder as it is deployed, with the options of its image and of its manifest. */
  curfew(options: WatcherOptions): Promise<Watcher>;
  /** `@kubernetes/client-node`'s informers. */
  informer(options: WatcherOptions): Promise<Watcher>;
}

/** Bundles both programs into `folder`. */
export async function buildPrograms(folder: string): Promise<Programs> {
  const informerBundle = join(folder, 'informer.mjs');
  const usageBundle = join(folder, 'report-usage.mjs');
  await promisify(execFile)(process.execPath, [FORWARDER_BUNDLER, folder]);
  await bundle(INFORMER, informerBundle);
  await bundle(REPORT_USAGE, usageBundle);
  return {
    curfew: async options => startForwarder(join(folder, 'main.mjs'), usageBundle, options),
    informer: async ({ kubeconfig }) => startInformer(informerBundle, kubeconfig),
  };
}

async function startForwarder(
  main: string,
  usageBundle: string,
  { kubeconfig, busUrl, busName = 'bench' }: WatcherOptions,
): Promise<Watcher> {
  const port = await findFreePort();
  const options = {
    'cluster-name': 'bench',
    'event-bus-name': busName,
    region: 'us-west-2',
    kubeconfig,
    'health-host': LOOPBACK,
    'health-port': String(port),
    // Its sign of life goes to the same bus, and is about no object.
    'heartbeat-seconds': '0',
    // Repeats are no change; `resync.ts` counts them.
    'resync-hours': '0',
  };
  const process = startMeasuredProcess(main, {
    args: Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    nodeFlags: [...readNodeFlags(), '--import', usageBundle],
    env: {
      NODE_OPTIONS: readNodeOptions(),
      AWS_ENDPOINT_URL_EVENTBRIDGE: busUrl,
      AWS_ACCESS_KEY_ID: FAKE_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: FAKE_CREDENTIALS.secretAccessKey,
    },
  });
  // It answers as soon as it listens.
  const metricsUrl = `http://${LOOPBACK}:${port}/metrics`;
  const read = async (name: string): Promise<number> => addUpMetric(await fetchText(metricsUrl), name);
  return { process, seen: () => read('events_seen'), coalesced: () => read('events_coalesced') };
}

async function fetchText(url: string): Promise<string> {
  try {
    return await (await fetch(url)).text();
  } catch {
    return '';
  }
}

/** Adds up a counter of the forwarder over nodes and pods; 0 as long as there is none. */
export function addUpMetric(metrics: string, name: string): number {
  const lines = metrics.matchAll(
    new RegExp(`^curfew_forwarder_${name}_total\\{resource="(?:nodes|pods)"\\} (\\d+)$`, 'gm'),
  );
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}

const stateSchema = z.object({ seen: z.number(), failures: z.array(z.string()) });

function startInformer(script: string, kubeconfig: string): Watcher {
  const process = startMeasuredProcess(script, {
    args: [kubeconfig],
    // Its cache is larger than the heap that Node takes by itself on a small machine.
    nodeFlags: ['--max-old-space-size=8192'],
  });
  return {
    process,
    async seen() {
      const { seen, failures } = await process.ask('state', stateSchema);
      // An informer that reports an error has stopped for good.
      if (failures.length > 0) throw new Error(`the informer stopped: ${failures.join('; ')}`);
      return seen;
    },
    coalesced: async () => 0,
  };
}
