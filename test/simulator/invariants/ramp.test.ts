/** I3 notices repairs that begin all at once when an outage is over: of six nodes of a zone four are unhealthy, until more nodes join. */
import { describe, expect, it } from 'vitest';
import { checkRamp } from '../../../simulator/invariants/ramp.ts';
import { mutationOf } from '../../mutants/mutants.ts';
import type { RunOptions } from '../../../simulator/run.ts';
import { GATE, simulate } from '../simulate.ts';
import { UNHEALTHY as UNHEALTHY_SINCE, toldRepair } from '../../builders/told-repair.ts';

const object = (name: string, ready: string) => ({
  node: `{ apiVersion: v1, kind: Node, metadata: { name: ${name}, creationTimestamp: "2024-11-01T12:00:00Z", labels: { karpenter.sh/nodepool: pool, topology.kubernetes.io/zone: a } }, spec: { providerID: "aws:///a/i-${name}" }, status: { conditions: [{ type: Ready, status: "${ready}", lastTransitionTime: "2024-11-01T14:00:00Z" }] } }`,
  claim: `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, labels: { karpenter.sh/nodepool: pool }, finalizers: [karpenter.sh/termination] }, status: { nodeName: ${name}, providerID: "aws:///a/i-${name}" } }`,
});

const UNHEALTHY = ['n1', 'n2', 'n3', 'n4'].map(name => object(name, 'False'));
const WELL = ['n5', 'n6'].map(name => object(name, 'True'));
const NEW = ['n7', 'n8', 'n9'].map(name => object(name, 'True'));

const SPEC = `${GATE}  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: pool }, spec: { repair: { maxUnhealthy: 100% } } }
${[...UNHEALTHY, ...WELL].flatMap(({ node, claim }) => [`    - ${node}\n`, `    - ${claim}\n`]).join('')}  steps:
${NEW.flatMap(({ node, claim }) => [`    - { at: 10m, apply: ${node} }\n`, `    - { at: 10m, apply: ${claim} }\n`]).join('')}`;

async function violations(options?: RunOptions) {
  const { violations: found } = await simulate(SPEC, options);
  return found.map(({ invariant, message }) => `${invariant}: ${message}`);
}

const isOfRamp = (complaint: string): boolean => complaint.includes('min of the end of');

describe('what an outage had held', () => {
  it('begins again slowly', async () => {
    expect((await violations()).filter(isOfRamp)).toEqual([]);
  });

  it('must not begin all at once', async () => {
    expect((await violations(mutationOf('repair-without-a-ramp'))).find(isOfRamp)).toBe(
      'I3: repair begins 2 repairs within 1 min of the end of ZoneOutage in pool pool, 1 may be',
    );
  });
});

/** Three nodes that an outage of their zone holds. */
function told() {
  const one = toldRepair(checkRamp, { maxUnhealthy: '100%' });
  for (const name of ['n1', 'n2', 'n3']) {
    one.node({ name, conditions: UNHEALTHY_SINCE });
    one.say(name, 'blocked', 'ZoneOutage');
  }
  return one;
}

describe('the first minute of a ramp', () => {
  it.each<readonly [string, (one: ReturnType<typeof told>) => void, number]>([
    ['has one act', one => (one.at(5), one.terminate('n1'), one.terminate('n2')), 1],
    [
      'begins with the first act, and the next has two',
      one => (one.at(5), one.terminate('n1'), one.at(6), one.terminate('n2'), one.terminate('n3')),
      0,
    ],
    [
      'does not begin with what is only said',
      one => (one.at(5), one.say('n2', 'blocked', 'RampUp'), one.at(7), one.terminate('n1'), one.terminate('n2')),
      1,
    ],
    [
      'is not spared by an edit in between',
      one => (
        one.at(5),
        one.setPool({ maxUnhealthy: 'lots' }),
        one.setPool({ maxUnhealthy: '100%' }),
        one.terminate('n1'),
        one.terminate('n2')
      ),
      1,
    ],
    [
      'begins anew after another hold',
      one => (
        one.at(5),
        one.terminate('n1'),
        one.at(6),
        one.say('n2', 'blocked', 'UnhealthyThreshold'),
        one.at(7),
        one.terminate('n2'),
        one.terminate('n3')
      ),
      1,
    ],
    [
      'is nothing to nodes that were not held',
      one => (
        one.at(5),
        one.node({ name: 'n4', conditions: UNHEALTHY_SINCE }),
        one.terminate('n1'),
        one.terminate('n4')
      ),
      0,
    ],
    [
      'is nothing to nodes that were well in between',
      one => (
        one.at(5),
        one.node({ name: 'n2' }),
        one.node({ name: 'n2', conditions: UNHEALTHY_SINCE }),
        one.terminate('n1'),
        one.terminate('n2')
      ),
      0,
    ],
  ])('%s', (_, happens, count) => {
    const one = told();
    happens(one);
    expect(one.found).toHaveLength(count);
  });
});
