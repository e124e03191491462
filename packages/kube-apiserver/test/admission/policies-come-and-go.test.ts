import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kubernetes-object.ts';
import { aConfigMap, aServer, CONFIG_MAPS, refusal } from '../server-under-test.ts';

const GROUP = 'admissionregistration.k8s.io';
const policies = { group: GROUP, version: 'v1', resource: 'validatingadmissionpolicies' };
const bindings = { group: GROUP, version: 'v1', resource: 'validatingadmissionpolicybindings' };

describe('a policy', () => {
  it('counts from its binding on, as it is now, and until one of them goes', () => {
    const { api } = aServer();
    const create = (name: string) => api.create(CONFIG_MAPS, aConfigMap(name), {});
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
    const specOf = (message: string): JsonObject => ({
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', message }],
    });
    const bind = () =>
      api.create(bindings, {
        apiVersion: `${GROUP}/v1`,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'p' },
        spec: { policyName: 'p', validationActions: ['Deny'] },
      });
    const policy = { apiVersion: `${GROUP}/v1`, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'p' } };

    create('before');
    bind();
    create('without-a-policy');
    api.create(policies, { ...policy, spec: specOf('first') });
    expect(refusal(() => create('c')).message).toMatch(/denied request: first$/);
    api.patch({ type: policies, name: 'p' }, { type: 'merge', body: { spec: specOf('second') } });
    expect(refusal(() => create('c')).message).toMatch(/denied request: second$/);
    const about = (resource: string) =>
      api.patch(
        { type: policies, name: 'p' },
        {
          type: 'merge',
          body: { spec: { matchConstraints: { resourceRules: [{ ...rule, resources: [resource] }] } } },
        },
      );
    about('secrets');
    create('not-named');
    about('configmaps');
    expect(refusal(() => create('c')).message).toMatch(/denied request: second$/);
    api.delete({ type: bindings, name: 'p' });
    create('unbound');
    bind();
    expect(refusal(() => create('c')).message).toMatch(/denied request: second$/);
    api.delete({ type: policies, name: 'p' });
    create('after');
  });
});
