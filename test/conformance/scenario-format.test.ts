/** The scenario format, as the contract has it: every step, every expectation, every form of time. */
import { describe, expect, it } from 'vitest';
import { complaints, GATE, nodeObjects, simulate } from '../simulator/simulate.ts';

const EVERYTHING = `  start: 2024-11-01T15:00:00+02:00
  duration: 1h30m
${GATE}  templates: { drain-template.yaml: "kind: X" }
  actors: [kubelet, cloud]
  objects:
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: default }
      spec: { repair: { policies: [{ conditionType: Ready, toleration: 0s }] } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: nc1, uid: claim-uid, creationTimestamp: "2024-10-01T00:00:00Z", labels: { karpenter.sh/nodepool: default }, finalizers: [karpenter.sh/termination] }
      status: { providerID: "aws:///us-west-2a/i-1", nodeName: n1 }
    - apiVersion: v1
      kind: Node
      metadata: { name: n1, uid: node-uid, labels: { karpenter.sh/nodepool: default } }
      spec: { providerID: "aws:///us-west-2a/i-1" }
    - { apiVersion: v1, kind: Node, metadata: { name: n2, deletionTimestamp: "2024-11-01T12:00:00Z", finalizers: [example.com/hold] }, spec: { providerID: "aws:///us-west-2a/i-2" } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: web, annotations: { karpenter.sh/do-not-disrupt: 20m } }, spec: { nodeName: n1 } }
    - { apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: { namespace: prod, name: web }, spec: { maxUnavailable: 1, selector: { matchLabels: { app: web } } } }
  steps:
    - { at: 1m, patch: { resource: nodes, name: n1, merge: { status: { conditions: [{ type: Ready, status: Unknown, lastTransitionTime: "2024-11-01T13:01:00Z" }] } } } }
    - { at: 2m, busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: { id: x } } }
    - { at: 2m, busEvent: { source: nobody, detail-type: Odd, detail: {} } }
    - { at: 3m, cloud: { providerID: "aws:///us-west-2a/i-1", fail: throttle, state: stopped } }
    - { at: 3m, cloud: { providerID: "aws:///us-west-2a/i-1", fail: none } }
    - { at: 4m, cleanup: { rule: managed-database, result: fail, message: "no" } }
    - { at: 5m, outage: { of: bus, for: 1m } }
    - { at: 5m, outage: { of: api, for: 1m } }
    - { at: 5m, outage: { of: store, for: 1m } }
    - { at: 6m30s, restart: forwarder }
    - { at: 7m, delete: { resource: pods, namespace: prod, name: web, gracePeriodSeconds: 5 } }
    - { at: "2024-11-01T13:10:00Z", apply: { apiVersion: v1, kind: Pod, metadata: { namespace: new, name: job, annotations: { karpenter.sh/do-not-disrupt: 20m } }, spec: { nodeName: n1 } } }
    - { at: 1h30m, restart: forwarder }
  expect:
`;

/** Expectations, in the inside of a flow mapping, that hold and that do not. */
const HOLD = [
  'at: 1m, within: 0s, write: { by: repair, verb: delete, resource: nodeclaims.karpenter.sh, name: nc1, uid: claim-uid }, times: 1',
  'at: "2024-11-01T13:01:00Z", write: { verb: patch, resource: nodeclaims, body: { metadata: { uid: claim-uid } }, absent: [body.spec, "body.metadata.labels[\\"x\\"]"] }',
  'at: 2024-11-01T14:01:00+01:00, write: { verb: delete }',
  'write: { verb: delete }, times: { max: 1 }',
  'write: { verb: delete }, times: { min: 1 }',
  'write: { verb: delete }, times: { min: 1, max: 2 }',
  'write: { verb: evict }, times: 0',
  'before: 1m, write: { verb: delete }, times: 0',
  'after: 1m, before: 1m0.001s, write: { verb: delete }, times: 1',
  'after: 61s, write: { verb: delete }, times: 0',
  'audit: { function: repair, decision: repair, kind: Node, name: n1, uid: node-uid, details: { nodePool: default } }',
  'event: { type: Warning, reason: NodeRepairStarted, kind: NodeClaim, name: nc1, about: { uid: claim-uid } }',
  'at: 30m, event: { reason: DoNotDisruptGracePeriodElapsed, kind: Pod, namespace: new, name: job }, times: 1',
  'final: { resource: nodeclaims, name: nc1, match: { metadata: { deletionTimestamp: "2024-11-01T13:01:00Z", creationTimestamp: "2024-10-01T00:00:00Z", finalizers: [karpenter.sh/termination] } }, absent: ["metadata.annotations[\\"a\\"]", metadata.labels.x] }',
  'final: { resource: nodes, name: n1, match: { status: { conditions: [{ type: Ready }, { status: Unknown }] } } }',
  'final: { resource: nodes, name: n2, match: { metadata: { deletionTimestamp: "2024-11-01T12:00:00Z" } } }',
  'final: { instance: "aws:///us-west-2a/i-1", state: stopped }',
  'final: { instance: "aws:///us-west-2a/i-2", state: running }',
  'final: { resource: pods, namespace: prod, name: web, exists: false }',
  'final: { resource: pods, namespace: new, name: job, exists: true, match: { metadata: { annotations: { karpenter.sh/do-not-disrupt: 20m } } } }',
  'final: { resource: poddisruptionbudgets, namespace: prod, name: web }',
  'final: { resource: configmaps, namespace: curfew, name: curfew-config, match: { data: { drain-template.yaml: "kind: X" } } }',
];
const FAIL = [
  'at: 1m, within: 0s, write: { verb: delete }, times: 2',
  'at: 1m1s, write: { verb: delete }',
  'before: 1m, write: { verb: delete }',
  'write: { verb: delete }, times: 0',
  'write: { verb: delete }, times: { min: 2 }',
  'write: { verb: patch, resource: nodeclaims, absent: [body.metadata.uid] }',
  'event: { reason: NodeRepairStarted, namespace: prod }',
  'audit: { function: repair, decision: repair, details: { nodePool: other } }',
  'final: { resource: nodes, name: n1, match: { status: { conditions: [{ type: Ready, status: "False" }] } } }',
  'final: { resource: nodes, name: n1, absent: [\'metadata.labels["karpenter.sh/nodepool"]\'] }',
  'final: { resource: nodes, name: n1, exists: false }',
  'final: { resource: nodes, name: n3 }',
  'final: { instance: "aws:///us-west-2a/i-1", state: running }',
  'final: { instance: "aws:///us-west-2a/i-3", state: running }',
];

describe('the scenario format', () => {
  it('has every expectation judged as it should be', async () => {
    const expectations = [...HOLD, ...FAIL].map(expectation => `    - { ${expectation} }\n`);
    const { verdicts } = await simulate(EVERYTHING + expectations.join(''));
    const judged = verdicts.map(({ holds }, index) => ({ holds, expectation: [...HOLD, ...FAIL][index] }));
    expect(judged.filter(({ holds }) => holds).map(({ expectation }) => expectation)).toEqual(HOLD);
    expect(judged.filter(({ holds }) => !holds).map(({ expectation }) => expectation)).toEqual(FAIL);
  });

  it.each([
    ['[]', true, 'running'],
    ['[kubelet]', true, 'running'],
    ['[karpenter]', false, undefined],
    ['[karpenter, cloud]', false, 'terminated'],
    ['[cloud, disruption]', true, 'running'],
  ])('runs with the actors %s alone', async (actors, nodeStays, state) => {
    const instance =
      state === undefined || !actors.includes('cloud')
        ? ''
        : `    - { final: { instance: "aws:///us-west-2a/i-a", state: ${state} } }\n`;
    const result = await simulate(`${GATE}  actors: ${actors}
  objects:
${nodeObjects('a')}  expect:
    - { at: 30m, within: 0s, write: { verb: delete, resource: nodeclaims, name: a }, times: 1 }
    - { final: { resource: nodes, name: a, exists: ${nodeStays} } }
${instance}`);
    expect(complaints(result)).toEqual([]);
  });
});
