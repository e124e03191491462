import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/reconcile.ts';
import { addRuleFinalizer } from '../../../../functions/finalizer/rules/finalizer.ts';
import { RULE_FINALIZER } from '../../../../functions/finalizer/rules/rule-set.ts';
import { createApiServer } from '../../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, toEpochMs } from '../../../../shared/domain/time.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { customResourceDefinitions } from '../../../../simulator/custom-resource-definitions.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';

const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));

function cluster() {
  const core = createApiServer({ clock: { now: () => NOW } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  const spec = {
    group: 'database.example.com',
    version: 'v1',
    kind: 'ManagedDatabase',
    finalizerName: 'database.example.com/cleanup',
    cleanup: { event: { detailType: 'Drop' } },
  };
  core.seed({ apiVersion: 'curfew.dev/v1alpha1', kind: 'FinalizerRule', metadata: { name: 'databases' }, spec });
  const ref = { type: RESOURCES.FinalizerRule, name: 'databases' };
  const deps = { kubernetes: createInProcessKubernetesApi(core, 'curfew:finalizer') };
  const keep = (object: KubernetesObject) => addRuleFinalizer(deps, object);
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

describe('a FinalizerRule', () => {
  it.each(['metadata', 'status'] as const)('whose %s cannot be written goes back to the queue alone', async fails => {
    expect(await lookTwice(fails)).toEqual({ failed: 2, sent: 0 });
  });

  it('is kept by its own finalizer, and looked at again when somebody changed it in between', async () => {
    const { core, ref, keep } = cluster();
    const seen = core.get(ref);
    expect(await keep(seen)).toBe('kept');
    expect(core.get(ref).metadata.finalizers).toEqual([RULE_FINALIZER]);
    expect(await keep(seen)).toBe('changed');
  });

  it('that went in between is looked at again: nothing keeps it', async () => {
    const { core, ref, keep } = cluster();
    const seen = core.get(ref);
    core.delete(ref);
    expect(await keep(seen)).toBe('changed');
  });
});
