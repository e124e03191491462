import { describe, expect, it } from 'vitest';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { deletePod, evictPod, NO_SUCH_POD } from '../../../shared/pods/eviction.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readPod, type PodView } from '../../../shared/domain/pod.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const NOW = Date.parse('2024-11-01T15:00:00Z');
const ref = { type: RESOURCES.Pod, namespace: 'default', name: 'web-0' };

function cluster(budgets: readonly JsonObject[] = []) {
  const core = createApiServer({ clock: { now: () => NOW } });
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  const seedPod = (): PodView => {
    core.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-0', namespace: 'default', labels: { app: 'web' } },
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
    return readPod(core.get(ref));
  };
  budgets.forEach((status, index) => {
    core.seed({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: `budget-${index}`, namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
      status,
    });
  });
  const deps = {
    kubernetes: createInProcessKubernetesApi(core, 'curfew:finalizer'),
    clock: { now: () => toEpochMs(NOW) },
  };
  const live = (): KubernetesObject => core.get(ref);
  return { core, deps, seedPod, live };
}

const WHATEVER = { gracePeriodSeconds: 7, unchanged: false };
const UNCHANGED = { gracePeriodSeconds: 7, unchanged: true };

const CLOSED = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };

describe('an eviction', () => {
  it('is accepted where nothing forbids it (Q3)', async () => {
    const { deps, seedPod, live } = cluster();
    expect(await evictPod(deps, seedPod())).toEqual({ kind: 'evicted' });
    expect(live().metadata.deletionTimestamp).toBe('2024-11-01T15:00:30Z');
  });

  it('is accepted where a budget allows one (Q4)', async () => {
    const { deps, seedPod, live } = cluster([{ ...CLOSED, disruptionsAllowed: 1, desiredHealthy: 0 }]);
    expect(await evictPod(deps, seedPod())).toEqual({ kind: 'evicted' });
    expect(live().metadata.deletionTimestamp).toBe('2024-11-01T15:00:30Z');
  });

  it('is refused by a budget', async () => {
    const { deps, seedPod, live } = cluster([CLOSED]);
    expect(await evictPod(deps, seedPod())).toMatchObject({ kind: 'blocked' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });

  it('is refused by two budgets (Q6)', async () => {
    const { deps, seedPod } = cluster([CLOSED, CLOSED]);
    await expect(evictPod(deps, seedPod())).rejects.toThrow('more than one PodDisruptionBudget');
  });

  it('of a pod that is gone says so (Q1)', async () => {
    const { core, deps, seedPod } = cluster();
    const pod = seedPod();
    core.delete(ref, { gracePeriodSeconds: 0 });
    await expect(evictPod(deps, pod)).rejects.toThrow(NO_SUCH_POD);
  });

  it('never reaches another pod of that name (N21, Q15)', async () => {
    const { core, deps, seedPod, live } = cluster();
    const pod = seedPod();
    core.delete(ref, { gracePeriodSeconds: 0 });
    seedPod();
    expect(await evictPod(deps, pod)).toEqual({ kind: 'changed' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });

  it('never reaches a pod that was protected in between (NV80)', async () => {
    const { core, deps, seedPod, live } = cluster();
    const pod = seedPod();
    const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } };
    core.patch(ref, { type: 'merge', body });
    expect(await evictPod(deps, pod)).toEqual({ kind: 'changed' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('a forced deletion', () => {
  it('bypasses budgets (Q9) and grants the given grace', async () => {
    const { deps, seedPod, live } = cluster([CLOSED]);
    expect(await deletePod(deps, seedPod(), WHATEVER)).toEqual({ kind: 'deleted' });
    expect(live().metadata).toMatchObject({ deletionTimestamp: '2024-11-01T15:00:07Z', deletionGracePeriodSeconds: 7 });
  });

  it('never reaches another pod of that name, and of a pod that is gone says so (Q12, NV80)', async () => {
    const { core, deps, seedPod, live } = cluster();
    const pod = seedPod();
    core.delete(ref, { gracePeriodSeconds: 0 });
    await expect(deletePod(deps, pod, WHATEVER)).rejects.toThrow(NO_SUCH_POD);
    seedPod();
    expect(await deletePod(deps, pod, WHATEVER)).toEqual({ kind: 'replaced' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('the condition of a pod that is deleted by force', () => {
  const CONDITION = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByCurfew' };

  it.each([WHATEVER, UNCHANGED])('is written before it, beside those of others', async options => {
    const { deps, seedPod, live } = cluster();
    expect(await deletePod(deps, seedPod(), options)).toEqual({ kind: 'deleted' });
    expect(live().status?.['conditions']).toEqual([
      { type: 'Ready', status: 'True' },
      expect.objectContaining({ ...CONDITION, lastTransitionTime: '2024-11-01T15:00:00Z' }),
    ]);
  });

  it.each([WHATEVER, UNCHANGED])('is written once', async options => {
    const { deps, seedPod, live } = cluster();
    await deletePod(deps, seedPod(), options);
    const { resourceVersion } = live().metadata;
    await deletePod(deps, readPod(live()), options);
    expect(live().metadata.resourceVersion).toBe(resourceVersion);
  });

  it.each([
    ['a server that fails', new RetryableError('500')],
    ['a policy that denies it', new TerminalError('Forbidden', 'no')],
  ])('holds no deletion back: %s', async (_, error) => {
    const { deps, seedPod, live } = cluster();
    const kubernetes = { ...deps.kubernetes, patch: () => Promise.reject(error), delete: deps.kubernetes.delete };
    expect(await deletePod({ ...deps, kubernetes }, seedPod(), WHATEVER)).toEqual({ kind: 'deleted' });
    expect(live().metadata.deletionTimestamp).toBeDefined();
  });
});

describe('a deletion of what was looked at', () => {
  it('grants the given grace', async () => {
    const { deps, seedPod, live } = cluster([CLOSED]);
    expect(await deletePod(deps, seedPod(), UNCHANGED)).toEqual({ kind: 'deleted' });
    expect(live().metadata.deletionGracePeriodSeconds).toBe(7);
  });

  it('never reaches a pod that changed in between (NV80)', async () => {
    const { core, deps, seedPod, live } = cluster();
    const pod = seedPod();
    const body = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } };
    core.patch(ref, { type: 'merge', body });
    expect(await deletePod(deps, pod, UNCHANGED)).toEqual({ kind: 'changed' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });

  it('never reaches another pod of that name', async () => {
    const { core, deps, seedPod, live } = cluster();
    const pod = seedPod();
    core.delete(ref, { gracePeriodSeconds: 0 });
    seedPod();
    expect(await deletePod(deps, pod, UNCHANGED)).toEqual({ kind: 'changed' });
    expect(live().metadata.deletionTimestamp).toBeUndefined();
  });
});
