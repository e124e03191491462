/** Ways in which a healthy node, or the node of somebody else, could be repaired: the whole system in the simulator. */
import { describe, expect, it } from 'vitest';
import { complaints, GATE, simulate } from '../simulator/simulate.ts';

const pool = (name: string, repair = '{}'): string =>
  `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: ${name} }, spec: { repair: ${repair} } }\n`;
const claim = (name: string, owner: string, instance = name): string => `    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: ${name}, labels: { karpenter.sh/nodepool: ${owner} }, finalizers: [karpenter.sh/termination] }
      status: { nodeName: ${name}, providerID: "aws:///us-west-2a/i-${instance}" }
`;
const node = (name: string, label: string, conditions: string, instance = name): string => `    - apiVersion: v1
      kind: Node
      metadata: { name: ${name}, labels: { karpenter.sh/nodepool: ${label} } }
      spec: { providerID: "aws:///us-west-2a/i-${instance}" }
      status: { conditions: [${conditions}] }
`;
const ready = (status: string): string =>
  `{ type: Ready, status: "${status}", lastTransitionTime: "2024-11-01T15:00:00Z" }`;
const spec = (objects: string, expectations: string): string =>
  `${GATE}  duration: 2h\n  objects:\n${objects}  expect:\n${expectations}`;

const NOTHING_DELETED = '    - { write: { verb: delete, resource: nodeclaims }, times: 0 }\n';
const deleted = (name: string): string =>
  `    - { at: 30m, within: 2s, write: { verb: delete, resource: nodeclaims, name: ${name} } }\n`;

describe('repair', () => {
  it('goes by the first of several conditions of one type', async () => {
    const healthy = pool('p') + claim('n1', 'p') + node('n1', 'p', `${ready('True')}, ${ready('False')}`);
    expect(complaints(await simulate(spec(healthy, NOTHING_DELETED)))).toEqual([]);
    const sick = pool('p') + claim('n1', 'p') + node('n1', 'p', `${ready('False')}, ${ready('True')}`);
    expect(complaints(await simulate(spec(sick, deleted('n1'))))).toEqual([]);
  });

  it('leaves an instance alone that two Nodes claim, and says so', async () => {
    const objects =
      pool('p') + claim('n1', 'p') + node('n1', 'p', ready('True')) + node('n2', 'p', ready('Unknown'), 'n1');
    const said = '    - { event: { kind: Node, name: n2 } }\n';
    expect(complaints(await simulate(spec(objects, NOTHING_DELETED + said)))).toEqual([]);
  });

  it('takes the pool from the NodeClaim, whatever the label of the Node says', async () => {
    const objects = pool('p') + claim('n1', 'p') + node('n1', 'nowhere', ready('False'));
    expect(complaints(await simulate(spec(objects, deleted('n1'))))).toEqual([]);
  });

  it('is not switched on by the label of a Node', async () => {
    const off = `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: off }, spec: {} }\n`;
    const objects = pool('p') + off + claim('n1', 'off') + node('n1', 'p', ready('False'));
    expect(complaints(await simulate(spec(objects, NOTHING_DELETED)))).toEqual([]);
  });
});

describe('an audit line', () => {
  it('is small for a pod whose annotation is not, in the simulation, too', async () => {
    const long = 'x'.repeat(120_000);
    const pod = `    - apiVersion: v1
      kind: Pod
      metadata: { name: web-0, namespace: default, annotations: { karpenter.sh/do-not-disrupt: "${long}" } }
      spec: { nodeName: n1, containers: [{ name: a, image: b }] }
      status: { phase: Running }
`;
    const objects = pool('p') + claim('n1', 'p') + node('n1', 'p', ready('True')) + pod;
    const result = await simulate(spec(objects, '    - { audit: { function: grace-period } }\n'));
    expect(complaints(result)).toEqual([]);
    const lines = result.trace.filter(({ kind }) => kind === 'audit').map(line => JSON.stringify(line).length);
    expect(lines.filter(length => length > 8_000)).toEqual([]);
  });
});
