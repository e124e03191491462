/** I3 notices repairs that begin all at once when an outage is over: of six nodes of a zone four are ill, until more nodes join. */
import { describe, expect, it } from 'vitest';
import { mutationOf } from '../../../simulator/mutants/mutants.ts';
import type { RunOptions } from '../../../simulator/run.ts';
import { GATE, simulate } from '../simulate.ts';

const object = (name: string, ready: string) => ({
  node: `{ apiVersion: v1, kind: Node, metadata: { name: ${name}, labels: { karpenter.sh/nodepool: pool, topology.kubernetes.io/zone: a } }, spec: { providerID: "aws:///a/i-${name}" }, status: { conditions: [{ type: Ready, status: "${ready}", lastTransitionTime: "2024-11-01T14:00:00Z" }] } }`,
  claim: `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, labels: { karpenter.sh/nodepool: pool }, finalizers: [karpenter.sh/termination] }, status: { nodeName: ${name}, providerID: "aws:///a/i-${name}" } }`,
});

const ILL = ['n1', 'n2', 'n3', 'n4'].map(name => object(name, 'False'));
const WELL = ['n5', 'n6'].map(name => object(name, 'True'));
const NEW = ['n7', 'n8', 'n9'].map(name => object(name, 'True'));

const SPEC = `${GATE}  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: pool }, spec: { repair: { maxUnhealthy: 100% } } }
${[...ILL, ...WELL].flatMap(({ node, claim }) => [`    - ${node}\n`, `    - ${claim}\n`]).join('')}  steps:
${NEW.flatMap(({ node, claim }) => [`    - { at: 10m, apply: ${node} }\n`, `    - { at: 10m, apply: ${claim} }\n`]).join('')}`;

async function violations(options?: RunOptions) {
  const { violations: found } = await simulate(SPEC, options);
  return found.map(({ invariant, message }) => `${invariant}: ${message}`);
}

describe('what an outage had held', () => {
  it('begins again slowly', async () => {
    expect(await violations()).toEqual([]);
  });

  it('must not begin all at once', async () => {
    expect((await violations(mutationOf('repair-without-a-ramp')))[0]).toBe(
      'I3: repair begins 2 repairs within 1 min of the end of ZoneOutage a in pool pool, 1 may be',
    );
  });
});
