import { describe, expect, it } from 'vitest';
import type { ApiServerCore } from '../src/types.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';
import { BUDGETS, PODS, START, aPod, aServer, find, pod, refusal } from './server-under-test.ts';

const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";
const READY = [{ type: 'Ready', status: 'True' }];
const budget = { type: BUDGETS, namespace: 'default', name: 'web' };

/** A running pod with the label `app: web`. */
function aRunningPod(api: ApiServerCore, name: string, conditions: JsonObject[] = READY) {
  api.create(PODS, aPod(name, {}, { labels: { app: 'web' } }));
  api.patch(
    pod(name),
    { type: 'merge', body: { status: { phase: 'Running', conditions } } },
    { subresource: 'status' },
  );
}

function aBudget(api: ApiServerCore, status: JsonObject, spec: JsonObject = {}, name = 'web') {
  api.create(BUDGETS, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  const body = { status: { observedGeneration: 1, ...status } };
  api.patch({ ...budget, name }, { type: 'merge', body }, { subresource: 'status' });
}

describe('evicting a pod', () => {
  it('deletes it with its grace period and says why on the pod', () => {
    const { api } = aServer();
    aRunningPod(api, 'p');
    expect(api.evict(pod('p'))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    });
    expect(api.get(pod('p'))).toMatchObject({
      metadata: { deletionTimestamp: '2024-11-01T15:00:30Z', deletionGracePeriodSeconds: 30 },
      status: {
        conditions: [
          ...READY,
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'EvictionByEvictionAPI',
            message: 'Eviction API: evicting',
            lastTransitionTime: START,
          },
        ],
      },
    });
  });

  it('takes the grace period of the eviction', () => {
    const { api } = aServer();
    aRunningPod(api, 'p');
    api.evict(pod('p'), { gracePeriodSeconds: 3 });
    expect(api.get(pod('p')).metadata.deletionGracePeriodSeconds).toBe(3);
  });

  it('that does not exist is refused with 404', () => {
    expect(refusal(() => aServer().api.evict(pod('p'))).code).toBe(404);
  });

  it('that is another pod of that name is refused with 409, and left alone', () => {
    const { api } = aServer();
    aRunningPod(api, 'p');
    const before = api.get(pod('p'));
    expect(refusal(() => api.evict(pod('p'), { preconditions: { uid: 'other' } })).code).toBe(409);
    expect(api.get(pod('p'))).toBe(before);
  });

  it('spends what its budget allows', () => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    aRunningPod(api, 'p');
    aRunningPod(api, 'q');
    api.evict(pod('p'));
    expect(api.get(budget).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: START },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
    expect(refusal(() => api.evict(pod('q'))).code).toBe(429);
    expect(find(api, pod('q'))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it.each<[string, JsonObject, string]>([
    [
      'pods are missing',
      { currentHealthy: 1, desiredHealthy: 2 },
      'The disruption budget web needs 2 healthy pods and has 1 currently',
    ],
    [
      'nothing is known',
      { currentHealthy: 2, desiredHealthy: 1 },
      'The disruption budget web does not allow evicting pods currently',
    ],
    [
      'its controller failed',
      { conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'no scale' }] },
      'The disruption budget web does not allow evicting pods currently because it failed sync: no scale',
    ],
  ])('is refused with 429 by a budget that allows none: %s', (_, status, why) => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 0, ...status });
    aRunningPod(api, 'p');
    expect(refusal(() => api.evict(pod('p')))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: VIOLATES,
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget', message: why }] },
      code: 429,
    });
  });

  it('is put off by a budget that has not caught up with its spec', () => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 1, observedGeneration: 0 });
    aRunningPod(api, 'p');
    expect(refusal(() => api.evict(pod('p')))).toMatchObject({
      code: 429,
      message: VIOLATES,
      details: { retryAfterSeconds: 10 },
    });
  });

  it('is refused with 500 by two budgets', () => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 1 });
    aBudget(api, { disruptionsAllowed: 1 }, { selector: {} }, 'all');
    aRunningPod(api, 'p');
    expect(refusal(() => api.evict(pod('p')))).toMatchObject({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  });

  it('does not ask a budget without a selector, nor one of another namespace', () => {
    const { api } = aServer();
    api.create(BUDGETS, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'none' }, spec: {} });
    const elsewhere = { name: 'else', namespace: 'kube-system' };
    api.create(BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: elsewhere,
      spec: { selector: {} },
    });
    aRunningPod(api, 'p');
    expect(api.evict(pod('p')).code).toBe(201);
  });

  it.each(['Pending', 'Succeeded', 'Failed'])('that is %s goes whatever a budget says', phase => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 0 });
    aRunningPod(api, 'p');
    api.patch(pod('p'), { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
    expect(api.evict(pod('p')).code).toBe(201);
    expect(api.get(budget).status?.disruptionsAllowed).toBe(0);
  });

  it('that terminates already is not charged to the budget', () => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 1 });
    aRunningPod(api, 'p');
    api.delete(pod('p'));
    expect(api.evict(pod('p')).code).toBe(201);
    expect(api.get(budget).status?.disruptionsAllowed).toBe(1);
  });

  it.each<[string, JsonObject, JsonObject, number]>([
    [
      'AlwaysAllow lets it go',
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      { currentHealthy: 0, desiredHealthy: 1 },
      201,
    ],
    ['IfHealthyBudget lets it go while enough are healthy', {}, { currentHealthy: 1, desiredHealthy: 1 }, 201],
    ['IfHealthyBudget keeps it otherwise', {}, { currentHealthy: 0, desiredHealthy: 1 }, 429],
  ])('that is not ready: %s', (_, spec, status, code) => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 0, ...status }, spec);
    aRunningPod(api, 'p', [{ type: 'Ready', status: 'False' }]);
    const answer = code === 201 ? api.evict(pod('p')) : refusal(() => api.evict(pod('p')));
    expect(answer.code).toBe(code);
  });

  it('in a dry run spends and deletes nothing', () => {
    const { api } = aServer();
    aBudget(api, { disruptionsAllowed: 1 });
    aRunningPod(api, 'p');
    const version = api.resourceVersion;
    expect(api.evict(pod('p'), { dryRun: true }).code).toBe(201);
    expect(api.resourceVersion).toBe(version);
  });
});
