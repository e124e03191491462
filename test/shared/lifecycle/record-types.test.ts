/** Records outlive deployments and rollbacks: each version reads what earlier ones stored, and leaves alone what a newer one stored. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadInForce } from '../../../functions/repair/policy-status/observe.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { loadConfig } from '../../../shared/cluster/configuration.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, toEpochMs } from '../../../shared/domain/time.ts';
import type { RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import { createCluster } from '../../../simulator/world.ts';
import { RECORD_TYPES, storedState } from '../../fixtures/items/record-types.ts';

const NOW = toEpochMs(Date.UTC(2024, 10, 1, 16));
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-1' };
const ADDED = { added: { by: ['a', 'newer', 'version'] } };

/** The fixture of a version that has more at once than any code has written: what is written stands beside it. */
const WRITTEN: Readonly<Record<string, string>> = { drain: 'drain-v4-written.json' };

const withoutVersion = (stored: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(stored).filter(([key]) => key !== 'schemaVersion'));

describe.each(RECORD_TYPES)('a record of type $name', ({ name, codec }) => {
  const versions = Array.from({ length: codec.schemaVersion }, (_, index) => index + 1);

  it.each(versions)('that version %s stored is read, with fields that a newer version added', version => {
    const stored = storedState(`${name}-v${version}.json`);
    expect(stored['schemaVersion']).toBe(version);
    const value = codec.parse(withoutVersion(stored));
    expect(codec.parse({ ...withoutVersion(stored), ...ADDED })).toEqual(value);
  });

  it('is written as the fixture of this version stands', () => {
    const stored = withoutVersion(storedState(WRITTEN[name] ?? `${name}-v${codec.schemaVersion}.json`));
    expect(codec.toState(codec.parse(stored))).toEqual(stored);
  });

  it('T5: of a newer version is kept and left alone', async () => {
    const records = createMemoryRecordStore();
    const clock = { now: () => NOW, sleep: async () => undefined };
    const deps = { records, wakeUps: { send: async () => undefined }, clock };
    const state = { schemaVersion: codec.schemaVersion + 1, ...ADDED };
    const key = { owner: codec.owner, id: 'node/uid-1' };
    await records.put({ ...key, subject: SUBJECT, state, nextWakeTime: NOW }, 0);
    const run = openRecord(deps, codec as RecordCodec<unknown>, key.id);
    expect((await run.load()).kind).toBe('newer');
    const value = codec.parse(withoutVersion(storedState(`${name}-v${codec.schemaVersion}.json`)));
    const wanted = { subject: SUBJECT, value, wakeTime: addDuration(NOW, minutes(1)) };
    await expect(run.save(wanted)).rejects.toThrow('T5');
    await run.release();
    expect(await records.get(key)).toMatchObject({ state, version: 1 });
  });
});

/** Types whose codec is private to one file; tested through that file below. */
const PRIVATE = ['shared/cluster/configuration.ts'];

it('every codec has its fixtures', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const files = ['functions', 'shared']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => join(root, folder, file)),
    )
    .filter(file => file.endsWith('.ts'));
  const codecs = files.flatMap(file =>
    readFileSync(file, 'utf8')
      .matchAll(/: RecordCodec<[^V]/g)
      .map(() => relative(root, file))
      .toArray(),
  );
  expect(codecs.toSorted()).toEqual([...RECORD_TYPES.map(({ file }) => file), ...PRIVATE].toSorted());
});

it('every codec is in the table of ARCHITECTURE.md', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = text.split('## Where truth is');
  const named = [...table.matchAll(/\| `([\w/-]+\.ts)` \|$/gm)].map(([, file = '']) => file);
  expect(named.toSorted()).toEqual([...RECORD_TYPES.map(({ file }) => file), ...PRIVATE].toSorted());
});

it('an accepted policy that version 1 stored is in force again, with fields that a newer version added', async () => {
  const records = createMemoryRecordStore();
  const stored: JsonObject = { ...storedState('repair-policy-v1.json'), ...ADDED };
  await records.put({ owner: 'repair', id: 'policy/uid-1', subject: SUBJECT, state: stored, nextWakeTime: NOW }, 0);
  const broken: KubernetesObject = {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'p', uid: 'uid-1', resourceVersion: '1', creationTimestamp: '2024-11-01T12:00:00Z' },
    spec: { repair: { defaultTolerationDuration: 'soon' } },
  };
  const kubernetes = createInProcessKubernetesApi(createCluster({ now: () => 0 }), 'repair');
  const { policies } = await loadInForce({ kubernetes, records }, [broken]);
  expect(policies.policies.map(({ object }) => object)).toEqual([{ ...broken, spec: stored['spec'] }]);
});

it('a configuration that version 2 stored is in force again, with fields that a newer version added', async () => {
  const core = createCluster({ now: () => 0 });
  const metadata = { namespace: 'curfew', name: 'curfew-config' };
  core.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.toml': '[broken' } });
  const records = createMemoryRecordStore();
  const state = { ...storedState('configuration-v2.json'), ...ADDED };
  const subject = { apiVersion: 'v1', kind: 'ConfigMap', ...metadata };
  await records.put({ owner: 'grace-period', id: 'configuration', subject, state }, 0);
  const config = await loadConfig('grace-period', {
    kubernetes: createInProcessKubernetesApi(core, 'grace-period'),
    records,
    events: { record: async () => undefined },
    audit: { write: () => undefined },
    clock: { now: () => NOW, sleep: async () => undefined },
  });
  expect(config.featureGates.nodeRepair).toBe(true);
});
