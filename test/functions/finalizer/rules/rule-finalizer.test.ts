import { describe, expect, it } from 'vitest';
import { addRuleFinalizer } from '../../../../functions/finalizer/rules/finalizer.ts';
import { RULE_FINALIZER, acceptanceOf } from '../../../../functions/finalizer/rules/rule-set.ts';
import { createApiServer } from '../../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import { customResourceDefinitions } from '../../../../simulator/custom-resource-definitions.ts';

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
  const keep = (object: KubernetesObject) => addRuleFinalizer(deps, object, acceptanceOf(object, [object]));
  return { core, ref, keep };
}

describe('a FinalizerRule', () => {
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
