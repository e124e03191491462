/**
 * `npm start -- --serve` for hours, while nodes and pods come and go and its parts are killed: memory, open handles and records must
 * stay where they are. Their last quarter is compared with the one before.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKubernetesApi } from '../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { messageOf } from '../shared/errors.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { createDataFolder } from './measure/data-folder.ts';
import { atMost, numberRow, type Row } from './report/row.ts';
import { startChurn } from './soak/churn.ts';
import { flatRow } from './soak/flat.ts';
import { killOne, type Kills } from './soak/kills.ts';
import { createSampler, type Sample } from './soak/sample.ts';
import { startServed } from './soak/served.ts';

const MINUTES = 120;
const QUICK_MINUTES = 4;
const STEP_MS = 1000;
const SAMPLE_EVERY_MS = 15_000;
/** Medians of two quarters that follow each other. */
const GROWTH_MAX = 1.05;
/** Of some forty records, two more are a twentieth. */
const RECORDS_GROWTH_MAX = 1.1;
/** Connections come and go: one more of 22 is a twentieth. */
const HANDLES_GROWTH_MAX = 1.1;
/** Of eight or nine processes, one more is an eighth. */
const FEW_GROWTH_MAX = 1.25;
const HELD: readonly (readonly [name: string, unit: Row['ours']['unit'], limit?: number])[] = [
  ['serve: heap', 'B', GROWTH_MAX],
  ['serve: RSS', 'B', GROWTH_MAX],
  ['serve: open handles', '1', HANDLES_GROWTH_MAX],
  ['forwarder: RSS', 'B', GROWTH_MAX],
  ['forwarder: open handles', '1', HANDLES_GROWTH_MAX],
  ['DynamoDB: RSS', 'B', GROWTH_MAX],
  ['DynamoDB: open handles', '1', HANDLES_GROWTH_MAX],
  ['a function: RSS', 'B', GROWTH_MAX],
  ['a function: open handles', '1', HANDLES_GROWTH_MAX],
  ['processes of functions', '1', FEW_GROWTH_MAX],
  ['records', '1', RECORDS_GROWTH_MAX],
  ['bytes of records', 'B', RECORDS_GROWTH_MAX],
  ['nodes', '1'],
  ['pods', '1'],
  ['events', '1'],
];

export const soak: Bench = {
  summary: 'memory, open handles and records of --serve over hours of churn and kills',
  runsOnControlPlane: false,
  run: runSoak,
};

async function runSoak({
  quick,
  minutes = quick ? QUICK_MINUTES : MINUTES,
  progress,
}: BenchContext): Promise<BenchOutcome> {
  await using parts = new AsyncDisposableStack();
  const data = createDataFolder();
  parts.defer(data.remove);
  progress.say('soak: starting the local stack');
  const served = parts.use(await startServed(join(data.path, 'serve')));
  const transport = createTransport({ server: served.apiServer, clock: systemClock, userAgent: 'kubectl' });
  parts.defer(() => transport.close());
  const api = createKubernetesApi(transport);
  const sampler = createSampler(served, api);
  const churn = await startChurn(api);

  const began = performance.now();
  const endMs = minutes * 60_000;
  const samples: Sample[] = [];
  const kills: Kills = { function: 0, DynamoDB: 0, forwarder: 0 };
  const failures: string[] = [];
  for (let step = 1; performance.now() - began < endMs; step += 1) {
    const elapsedMs = performance.now() - began;
    try {
      await churn.step();
      killOne(served.pid, { second: Math.floor(elapsedMs / 1000), elapsed: elapsedMs / endMs }, kills);
      if (elapsedMs >= samples.length * SAMPLE_EVERY_MS)
        samples.push({ ...(await sampler.take()), second: elapsedMs / 1000 });
    } catch (error) {
      failures.push(messageOf(error));
    }
    progress.say(`soak: ${Math.floor(elapsedMs / 60_000)} of ${minutes} minutes`);
    await sleep(Math.max(0, began + step * STEP_MS - performance.now()));
  }
  const series = (name: string): readonly number[] => samples.flatMap(sample => sample[name] ?? []);
  return {
    settings: { minutes, sampleEveryMs: SAMPLE_EVERY_MS, dynamoDbDataIn: data.medium, samples: samples.length },
    rows: [
      ...HELD.map(([name, unit, limit]) => flatRow({ name, unit, series: series(name), limit })),
      numberRow({ name: 'messages given up', unit: '1', ours: await sampler.deadLetters(), limit: atMost(0) }),
      ...Object.entries(kills).map(([role, count]) =>
        numberRow({ name: `kills of a ${role}`, unit: '1', ours: count }),
      ),
      numberRow({ name: 'steps of the churn that failed', unit: '1', ours: failures.length }),
    ],
    samples: { samples, failures, problems: served.problems() },
  };
}
