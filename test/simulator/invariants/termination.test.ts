/** What the checks of terminations let happen, with the functions as they are. */
import { describe, expect, it } from 'vitest';
import { runScenario } from '../../../simulator/run.ts';
import { GENERATED_ANNOTATION } from '../../../simulator/scenario/scenario.ts';
import { scenario } from '../simulate.ts';

const OBJECTS = `  duration: 12m
  objects:
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { terminationGracePeriod: 10m } } }
    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: a }, status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" } }
    - { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-a" } }
    - { apiVersion: v1, kind: Pod, metadata: { name: p, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: a } }
    - { apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: { name: keep }, spec: { matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [nodes] }] }, validations: [{ expression: "false" }] } }
    - { apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: { name: keep }, spec: { policyName: keep, validationActions: [Deny] } }
`;

describe('a Node whose own deletion is refused', () => {
  it('is emptied at the deadline of its NodeClaim', async () => {
    const told = scenario(`${OBJECTS}  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: a } }
`);
    // These checks know what the swarm draws, and are asked of such clusters alone.
    const { violations, trace } = await runScenario({ ...told, annotations: { [GENERATED_ANNOTATION]: 'true' } });
    const deletes = trace.filter(({ line }) => line['resource'] === 'pods' && line['verb'] === 'delete');
    expect(deletes.map(({ line }) => line['by'])).toContain('finalizer');
    expect(violations).toEqual([]);
  });
});
