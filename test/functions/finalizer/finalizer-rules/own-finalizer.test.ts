import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { addOwnFinalizer } from '../../../../functions/finalizer/finalizer-rules/finalizer.ts';
import { FINALIZER_RULE_FINALIZER } from '../../../../functions/finalizer/finalizer-rules/finalizer-rule-set.ts';
import { createApiServer } from '../../../../packages/kube-apiserver/src/api-server.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, minutes, seconds, toEpochMs } from '../../../../shared/domain/time.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import type { RecordStore } from '../../../../shared/ports/record-store.ts';
import { customResourceDefinitions } from '../../../../simulator/custom-resource-definitions.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';

const OF_DATABASES = { group: 'database.example.com', version: 'v1', kind: 'ManagedDatabase' };
const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));

function cluster(given: { readonly finalizers?: readonly string[]; readonly status?: JsonObject } = {}) {
  const core = createApiServer({ clock: { now: () => NOW } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  const spec = {
    ...OF_DATABASES,
    finalizerName: 'database.example.com/cleanup',
    cleanup: { event: { detailType: 'Drop' } },
  };
  const { finalizers = [], status } = given;
  core.seed({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'FinalizerRule',
    metadata: { name: 'databases', finalizers: [...finalizers] },
    spec,
    ...(status !== undefined && { status }),
  });
  const ref = { type: RESOURCES.FinalizerRule, name: 'databases' };
  const deps = { kubernetes: createInProcessKubernetesApi(core, 'curfew:finalizer') };
  const keep = (object: KubernetesObject) => addOwnFinalizer(deps, object);
  return { core, ref, keep, deps };
}

/** @param fails that change of the rule fails, for a reason that may pass */
async function lookTwice(fails: 'metadata' | 'status'): Promise<{ readonly failed: number; readonly sent: number }> {
  const { core, deps } = cluster();
  let sent = 0;
  let failed = 0;
  let now = NOW;
  const patch: KubernetesApi['patch'] = (ref, change, options) =>
    ref.type.resource === 'finalizerrules' && (options?.subresource ?? 'metadata') === fails
      ? Promise.reject(new RetryableError('500 InternalError', { reason: 'InternalError' }))
      : deps.kubernetes.patch(ref, change, options);
  const wakeUps = { send: async (batch: readonly unknown[]) => void (sent += batch.length) };
  const reconcile = createReconciler(finalizerPorts({ ...deps.kubernetes, patch }, () => now, { wakeUps }));
  const { uid } = core.get({ type: RESOURCES.FinalizerRule, name: 'databases' }).metadata;
  const subject = { kind: 'FinalizerRule', apiVersion: 'curfew.dev/v1alpha1', name: 'databases', uid } as const;
  for (let look = 0; look < 2; look += 1, now = addDuration(now, seconds(5)))
    await reconcile(clusterEvent({ subject, changed: ['spec'] })).catch((error: unknown) => {
      if (!(error instanceof RetryableError)) throw error;
      failed += 1;
    });
  return { failed, sent };
}

/** The deletion of a rule that waits for its objects, whose kind is not served. @param other state that another run writes, and when */
async function lookAtDeleted(other: { readonly state: JsonObject; readonly before: 'secondRead' | 'firstWrite' }) {
  const { core, ref, deps } = cluster({
    finalizers: [FINALIZER_RULE_FINALIZER],
    status: { resource: 'manageddatabases' },
  });
  core.delete(ref);
  const { uid } = core.get(ref).metadata;
  const subject = { kind: 'FinalizerRule', apiVersion: 'curfew.dev/v1alpha1', name: 'databases', uid } as const;
  const key = { owner: 'finalizer', id: `rule/${uid}` } as const;
  const store = createMemoryRecordStore();
  const write = () => store.put({ ...key, subject, state: other.state, nextWakeTime: addDuration(NOW, hours(1)) }, 0);
  const counts = { secondRead: 1, firstWrite: 0 };
  const step = async (id: string, before: keyof typeof counts): Promise<void> => {
    if (id === key.id && counts[before]-- === 0 && before === other.before) await write();
  };
  const records: RecordStore = {
    delete: store.delete,
    get: read => step(read.id, 'secondRead').then(() => store.get(read)),
    put: (record, version) => step(record.id, 'firstWrite').then(() => store.put(record, version)),
  };
  const reconcile = createReconciler({ ...finalizerPorts(deps.kubernetes, () => NOW), records });
  await reconcile(clusterEvent({ subject, changed: ['deletionTimestamp'] }));
  const { state, nextWakeTime } = (await store.get(key)) ?? {};
  return { state, nextWakeTime };
}

const WATCH = { ...OF_DATABASES, state: 'Failing', since: '2024-11-01T14:59:00Z' };

describe('a FinalizerRule that waits for its objects', () => {
  it('comes back in a minute, also if another run has just put it off, and keeps what that one noted (I5)', async () => {
    expect(await lookAtDeleted({ state: { schemaVersion: 1, watch: WATCH }, before: 'firstWrite' })).toEqual({
      state: { schemaVersion: 1, watch: WATCH },
      nextWakeTime: addDuration(NOW, minutes(1)),
    });
  });

  it('is left alone once a newer version has written its record (T5)', async () => {
    const state = { schemaVersion: 2, ofNewer: true };
    expect(await lookAtDeleted({ state, before: 'secondRead' })).toEqual({
      state,
      nextWakeTime: addDuration(NOW, hours(1)),
    });
  });
});

describe('a FinalizerRule', () => {
  it.each(['metadata', 'status'] as const)('whose %s cannot be written goes back to the queue alone', async fails => {
    expect(await lookTwice(fails)).toEqual({ failed: 2, sent: 0 });
  });

  it('is kept by its own finalizer, and looked at again when somebody changed it in between', async () => {
    const { core, ref, keep } = cluster();
    const seen = core.get(ref);
    expect(await keep(seen)).toBe('kept');
    expect(core.get(ref).metadata.finalizers).toEqual([FINALIZER_RULE_FINALIZER]);
    expect(await keep(seen)).toBe('changed');
  });

  it('that went in between is looked at again: nothing keeps it', async () => {
    const { core, ref, keep } = cluster();
    const seen = core.get(ref);
    core.delete(ref);
    expect(await keep(seen)).toBe('changed');
  });
});
