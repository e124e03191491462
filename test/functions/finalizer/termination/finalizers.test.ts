import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../../functions/finalizer/termination/conditions.ts';
import { setFinalizers } from '../../../../functions/finalizer/termination/finalizers.ts';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import type { KubernetesObject, ObjectRef } from '../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import type { KubernetesApi, ObjectPatch, WriteOutcome } from '../../../../shared/ports/kubernetes-api.ts';

const claim: KubernetesObject = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name: 'nc1',
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: '2024-11-01T15:00:00Z',
    generation: 2,
    finalizers: ['example.com/custom'],
  },
  spec: { resources: { requests: { cpu: '1000m' } } },
  status: {},
};

function answering(outcome: WriteOutcome) {
  const patches: { ref: ObjectRef; patch: ObjectPatch }[] = [];
  const kubernetes = {
    get: async () => ({ kind: 'there', object: claim }),
    patch: async (ref: ObjectRef, patch: ObjectPatch) => {
      patches.push({ ref, patch });
      return outcome;
    },
  } satisfies Pick<KubernetesApi, 'get' | 'patch'>;
  return { kubernetes, patches };
}

describe('the patch of finalizers', () => {
  it('sends metadata alone: a quantity that is written differently stays as it is (L35)', async () => {
    const { kubernetes, patches } = answering({ kind: 'ok', object: claim });
    expect(await setFinalizers({ kubernetes }, claim, [], undefined)).toMatchObject({ kind: 'ok' });
    expect(patches.map(({ patch }) => Object.keys(patch.body))).toEqual([['metadata']]);
    expect(patches[0]?.patch.body).toMatchObject({ metadata: { uid: 'u1', resourceVersion: '7', finalizers: [] } });
  });

  it('is done when the object is gone (N44)', async () => {
    const { kubernetes } = answering({ kind: 'notFound' });
    expect(await setFinalizers({ kubernetes }, claim, [], undefined)).toEqual({ kind: 'notFound' });
  });

  it('asks for another look when somebody wrote first', async () => {
    const { kubernetes } = answering({ kind: 'conflict', message: 'the object has been modified' });
    expect(await setFinalizers({ kubernetes }, claim, [], undefined)).toMatchObject({ kind: 'conflict' });
  });
});

describe('conditions', () => {
  it('of an object that went in between are no failure (L45)', async () => {
    const { kubernetes, patches } = answering({ kind: 'notFound' });
    // Of a context, conditions use the look, the clock and the API alone.
    const context = {
      deps: { kubernetes },
      observed: { claim, nodes: [] },
      now: toEpochMs(0),
    } as unknown as StepContext;
    await showProgress(context, { kind: 'notYet', step: 'Drain', until: toEpochMs(0), on: 'pods are stopping' });
    expect(patches).toHaveLength(1);
  });
});
