/** Names that a scenario misspells: each is pointed at where it stands, with the nearest known one. What others may name stays open. */
import { describe, expect, it } from 'vitest';
import { parseScenarios } from '../../../simulator/scenario/parse.ts';
import { clusterCatalog } from '../../../simulator/world.ts';
import { SCENARIO_HEAD } from '../../builders/scenario.ts';

const catalog = clusterCatalog();

/** `line path: message` of every fault, or of every doubt of a file that is valid. The head has 6 lines. */
function faults(rest: string): string[] {
  const parsed = parseScenarios(SCENARIO_HEAD + rest, 'f.yaml', catalog);
  const found = parsed.ok ? parsed.scenarios.flatMap(({ doubts }) => doubts) : parsed.faults;
  return found.map(({ place, message }) => `${place.line} ${place.path}: ${message}`);
}
const expecting = (text: string): string[] => faults(`  expect:\n    - ${text}\n`);

describe('a name in an expectation that nothing has', () => {
  it('leaves the file valid: the format lets any stand', () => {
    for (const each of [
      'audit: { decision: nobody, fields: 1 }',
      'event: { reason: Nobody }',
      'write: { by: nobody }',
    ]) {
      const parsed = parseScenarios(`${SCENARIO_HEAD}  expect:\n    - { ${each}, times: 0 }\n`, 'f.yaml', catalog);
      expect(parsed.ok && parsed.scenarios.every(({ doubts }) => doubts.length > 0)).toBe(true);
    }
  });
});

describe('a condition that YAML reads as no text', () => {
  const node = (status: string): string => `{ type: Ready, status: ${status}, reason: r }`;
  const NODE = 'apiVersion: v1, kind: Node, metadata: { name: n1 }';

  it('is pointed at in objects and steps', () => {
    const object = `  objects:\n    - { ${NODE}, status: { conditions: [${node('False')}] } }\n`;
    expect(faults(object)).toEqual([
      '8 spec.objects[0].status.conditions[0].status: must be text, not false: write "False", with the quotes',
    ]);
    const merge = `{ status: { conditions: [${node('"True"')}, ${node('true')}] } }`;
    const steps = `  steps:\n    - { at: 1m, patch: { resource: nodes, name: n1, merge: ${merge} } }\n`;
    expect(faults(steps)).toEqual([
      '8 spec.steps[0].patch.merge.status.conditions[1].status: must be text, not true: write "True", with the quotes',
    ]);
  });

  it('is none where it is text', () => {
    expect(faults(`  objects:\n    - { ${NODE}, status: { conditions: [${node('Unknown')}] } }\n`)).toEqual([]);
  });
});

describe('an expectation is refused, or doubted', () => {
  it.each([
    ['audit: { fucntion: repair }', 'audit.fucntion: unknown field, did you mean "function"?'],
    [
      'audit: { function: repiar }',
      'audit.function: must be one of finalizer, drain, repair, grace-period, timer, not "repiar", did you mean "repair"?',
    ],
    ['audit: { decision: blokced }', 'audit.decision: there is no decision "blokced", did you mean "blocked"?'],
    ['audit: { decision: xyz }', 'audit.decision: there is no decision "xyz" (docs/observability.md lists them)'],
    ['audit: { decision: 5 }', 'audit.decision: must be text: a decision'],
    [
      'audit: { function: repair, decision: evict }',
      'audit.decision: repair never decides "evict"; finalizer and drain do',
    ],
    ['audit: { function: drain, decision: ends }', 'audit.decision: there is no decision "ends", did you mean "end"?'],
    [
      'audit: { function: repair, decision: blocked, reason: RampUpp }',
      'audit.reason: repair blocked never has the reason "RampUpp", did you mean "RampUp"?',
    ],
    [
      'audit: { function: repair, decision: vetoed, reason: Futile }',
      'audit.reason: repair vetoed never has the reason "Futile"; it has DoNotRepair',
    ],
    ['audit: { function: drain, decision: answer, reason: StaleEvnt }', 'did you mean "StaleEvent"?'],
    ['audit: { reason: GateOf }', 'audit.reason: no decision has the reason "GateOf", did you mean "GateOff"?'],
    ['audit: { kind: Nodepool }', 'audit.kind: the cluster serves no kind "Nodepool", did you mean "NodePool"?'],
    ['audit: { about: { knd: Node } }', 'audit.about.knd: unknown field, did you mean "kind"?'],
    [
      'event: { reason: NodeRepairBloked }',
      'event.reason: there is no Event reason "NodeRepairBloked", did you mean "NodeRepairBlocked"?',
    ],
    ['event: { kind: node }', 'event.kind: the cluster serves no kind "node", did you mean "Node"?'],
    ['event: { resaon: X }', 'event.resaon: unknown field, did you mean "reason"?'],
    ['write: { by: finaliser }', 'did you mean "finalizer"?'],
    [
      'write: { resource: nodeclaim }',
      'write.resource: the cluster serves no resource "nodeclaim", did you mean "nodeclaims"?',
    ],
    ['write: { resource: Node }', 'did you mean "nodes"?'],
    ['write: { resource: nodeclaims.karpenter.k8s }', 'serves no resource'],
    [
      'write: { subresource: statuss }',
      'write.subresource: must be one of status, eviction, not "statuss", did you mean "status"?',
    ],
    ['write: { body: { metdata: { labels: {} } } }', 'write.body.metdata: unknown field, did you mean "metadata"?'],
    [
      'write: { resource: nodes, absent: [body.spec.unschedulble] }',
      'body.spec.unschedulble can never exist: "unschedulble": unknown field, did you mean "unschedulable"?',
    ],
    [
      'final: { resource: nodes, name: n, absent: [metadata.deletionTimestmp] }',
      'final.absent[0]: metadata.deletionTimestmp can never exist: "deletionTimestmp": unknown field, did you mean "deletionTimestamp"?',
    ],
    [
      `final: { resource: nodes, name: n, absent: ['metadata.annotations["karpenter.sh/do-not-disrput"]'] }`,
      'did you mean "karpenter.sh/do-not-disrupt"?',
    ],
    [
      "final: { resource: nodes, name: n, absent: ['metadata.annotations.karpenter.sh/do-not-disrupt'] }",
      'final.absent[0]: metadata.annotations.karpenter.sh/do-not-disrupt can never exist: an annotation holds text; write metadata.annotations["karpenter.sh/do-not-disrupt"]',
    ],
    [
      "final: { resource: nodes, name: n, absent: ['metadata.labels[a.b/c]'] }",
      'metadata.labels[a.b/c] can never exist: a label holds text; write metadata.labels["a.b/c"]',
    ],
    [
      "write: { resource: nodes, absent: ['body.metadata.annotations.curfew.dev/drain'] }",
      'write body.metadata.annotations["curfew.dev/drain"]',
    ],
    [
      'write: { verb: terminate, resource: nodes, name: n }',
      'write.resource: nothing terminates nodes: the resource of this verb is instances',
    ],
    [
      'write: { verb: invoke, resource: pods }',
      'write.resource: nothing invokes pods: the resource of this verb is cleanups or hooks',
    ],
    [
      'write: { verb: evict, resource: nodes }',
      'write.resource: nothing evicts nodes: the resource of this verb is pods',
    ],
    [
      'write: { verb: delete, resource: instances }',
      'write.resource: the verb of instances is terminate or reboot, not delete',
    ],
    [
      'final: { resource: nodes, name: n, match: { spec: { unschedulble: true } } }',
      'match.spec.unschedulble: unknown field, did you mean "unschedulable"?',
    ],
    ['final: { resource: nodelifecyclepolicies, name: n, absent: [status.conditons] }', 'did you mean "conditions"?'],
    [
      'final: { resource: node, name: n }',
      'final.resource: the cluster serves no resource "node", did you mean "nodes"?',
    ],
  ])('%s', (text, message) => {
    const found = expecting(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^8 spec\.expect\[0\]\./);
    expect(found[0]).toContain(message);
  });

  it('at the line of the field', () => {
    expect(expecting('audit:\n        function: repair\n        decision: blokced')).toEqual([
      '10 spec.expect[0].audit.decision: there is no decision "blokced", did you mean "blocked"?',
    ]);
  });
});

describe('an object is refused', () => {
  it.each([
    [
      '{ apiVersion: karpenter.sh/v1, kind: Nodeclaim, metadata: { name: x } }',
      'serves no karpenter.sh/v1 Nodeclaim, did you mean "karpenter.sh/v1 NodeClaim"?',
    ],
    [
      '{ apiVersion: karpenter.k8s.aws/v1, kind: NodeClaim, metadata: { name: x } }',
      'did you mean "karpenter.sh/v1 NodeClaim"?',
    ],
    [
      '{ apiVersion: karpenter.sh/v1betta1, kind: NodeClaim, metadata: { name: x } }',
      '"v1betta1" in karpenter.sh/v1betta1 is no version',
    ],
    ['{ apiVersion: v1, kind: Deployment, metadata: { name: x, namespace: y } }', 'did you mean "apps/v1 Deployment"?'],
    [
      '{ apiVersion: v1, kind: Node, metadata: { name: x, anotations: {} } }',
      'metadata.anotations: unknown field, did you mean "annotations"?',
    ],
    [
      '{ apiVersion: v1, kind: Node, metadata: { name: x }, sttaus: {} }',
      'sttaus: unknown field, did you mean "status"?',
    ],
    [
      '{ apiVersion: v1, kind: Node, metadata: { name: x }, status: { conditions: [{ type: Ready, status: "True", lastTransitionTme: x }] } }',
      'status.conditions[0].lastTransitionTme: unknown field, did you mean "lastTransitionTime"?',
    ],
    [
      '{ apiVersion: v1, kind: Pod, metadata: { name: x }, spec: { nodName: n } }',
      'spec.nodName: unknown field, did you mean "nodeName"?',
    ],
  ])('%s', (text, message) => {
    for (const found of [
      faults(`  objects:\n    - ${text}\n`),
      faults(`  steps:\n    - { at: 1m, apply: ${text} }\n`),
    ]) {
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(message);
    }
  });

  it('for a misspelt field of a patch', () => {
    expect(
      faults('  steps: [{ at: 1m, patch: { resource: nodes, name: n, merge: { spec: { unschedulble: true } } } }]\n'),
    ).toEqual(['7 spec.steps[0].patch.merge.spec.unschedulble: unknown field, did you mean "unschedulable"?']);
  });
});

describe('what others may name stays open', () => {
  it.each([
    'audit: { function: finalizer, decision: retry, reason: ThrottlingException }',
    'audit: { decision: refuse, reason: Forbidden }',
    'audit: { kind: Instance, details: { anyKey: 1 } }',
    'write: { resource: instances, verb: terminate }',
    'write: { resource: nodes, body: { metadata: { annotations: { "example.com/mine": x } } } }',
    'write: { verb: delete, body: { preconditions: { uid: x } } }',
    `final: { resource: nodes, name: n, absent: ['metadata.labels["example.com/zone"]', 'spec.somethingNew', 'status.conditions[0].type'] }`,
    'final: { resource: secrets, namespace: x, name: n, match: { type: Opaque, stringData: { a: b } } }',
  ])('%s', text => {
    expect(expecting(text)).toEqual([]);
  });

  it('a policy with a misspelt field: Curfew refuses it', () => {
    const policy =
      '{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: p }, spec: { repiar: {} } }';
    expect(faults(`  objects:\n    - ${policy}\n`)).toEqual([]);
  });
});
