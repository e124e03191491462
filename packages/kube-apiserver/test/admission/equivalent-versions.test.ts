/** `matchPolicy`: one stored object that is written in several versions. */
import { describe, expect, it } from 'vitest';
import type { JsonObject, KubernetesManifest } from '../../src/kubernetes-object.ts';
import { aServer, DEFINITIONS, refusal } from '../server-under-test.ts';

const GROUP = 'admissionregistration.k8s.io';
const version = (name: string, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'toys.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'toys', kind: 'Toy' },
    versions: [version('v1', true), version('v2', false)],
  },
};

/** A server with a policy about `toys` of v1 that wants the object to be v1 and `size` to be 1. */
function serverWith(matchPolicy: string) {
  const { api } = aServer();
  api.create(DEFINITIONS, definition);
  const rule = { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['toys'], operations: ['*'] };
  const put = (kind: string, resource: string, spec: JsonObject): void => {
    const manifest: KubernetesManifest = { apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'toys' }, spec };
    api.create({ group: GROUP, version: 'v1', resource }, manifest);
  };
  put('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    matchConstraints: { matchPolicy, resourceRules: [rule] },
    validations: [
      {
        expression: "object.apiVersion == 'example.com/v1' && request.resource.version == 'v1' && object.size == 1",
        messageExpression: "'asked in ' + request.requestResource.version",
      },
    ],
  });
  put('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
    policyName: 'toys',
    validationActions: ['Deny'],
  });
  return (asVersion: string, size: number) =>
    api.create(
      { group: 'example.com', version: asVersion, resource: 'toys' },
      { apiVersion: `example.com/${asVersion}`, kind: 'Toy', metadata: { name: `t${size}` }, size },
    );
}

describe('matchPolicy', () => {
  it('Equivalent finds a request in another version, and sees it in the version that it names', () => {
    const create = serverWith('Equivalent');
    expect(refusal(() => create('v2', 2)).message).toMatch(/denied request: asked in v2$/);
    expect(create('v2', 1).apiVersion).toBe('example.com/v2');
  });

  it('Exact passes it by', () => {
    const create = serverWith('Exact');
    expect(create('v2', 2).metadata.name).toBe('t2');
    expect(refusal(() => create('v1', 3)).code).toBe(422);
  });
});
