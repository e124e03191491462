import { describe, expect, it } from 'vitest';
import { createWantedTemplates, templatesOfHooks, templatesOfRepair } from '../../forwarder/wanted-templates.ts';
import type { GroupVersionKind, JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';

const object = (kind: string, fields: JsonObject): KubernetesObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: kind, uid: kind, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  ...fields,
});
const policy = (...hooks: JsonObject[]) => object('NodeLifecyclePolicy', { spec: { termination: { hooks } } });
const HOOK = { name: 'deregister', customResource: { template: 'hook.yaml', conditionType: 'Done' } };
const KIND = { group: 'net.example.com', version: 'v1', kind: 'Deregistration' };
const CONFIG = object('ConfigMap', {
  data: { 'hook.yaml': 'apiVersion: net.example.com/v1\nkind: Deregistration\nspec: {}\n' },
});

describe('the kinds that templates ask for', () => {
  it('are those of hooks and of repairs', () => {
    const held = object('NodeLifecyclePolicy', {
      spec: {
        repair: { actions: [{ type: 'CustomResource', template: 'fix.yaml' }, { type: 'Terminate' }] },
        termination: { hooks: [HOOK, { name: 'tell', event: { detailType: 'Told' } }] },
      },
    });
    expect(templatesOfRepair(held)).toEqual(['fix.yaml']);
    expect(templatesOfHooks(held)).toEqual(['hook.yaml']);
    expect(templatesOfHooks(policy({ name: 'odd', customResource: 'text' }))).toEqual([]);
  });

  it('are followed as policy and ConfigMap change, in either order', () => {
    const wanted = new Map<string, GroupVersionKind | undefined>();
    const templates = createWantedTemplates(templatesOfHooks, (owner, kind) => wanted.set(owner, kind));
    templates.holder('uid-1', policy(HOOK));
    expect(wanted.get('uid-1/hook.yaml')).toBeUndefined();
    templates.configMap(CONFIG);
    expect(wanted.get('uid-1/hook.yaml')).toEqual(KIND);
    templates.holder('uid-1', policy());
    expect(wanted.get('uid-1/hook.yaml')).toBeUndefined();
    templates.holder('uid-1', policy(HOOK));
    expect(wanted.get('uid-1/hook.yaml')).toEqual(KIND);
    templates.configMap(undefined);
    expect(wanted.get('uid-1/hook.yaml')).toBeUndefined();
  });
});
