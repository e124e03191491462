/** I3 notices repairs that begin all at once when an outage is over: of six nodes of a zone four are ill, until more nodes join. */
import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { CheckContext, PortCall } from '../../../simulator/invariants/invariant.ts';
import type { Mirror } from '../../../simulator/invariants/mirror.ts';
import { checkRamp } from '../../../simulator/invariants/ramp.ts';
import { mutationOf } from '../../mutants/mutants.ts';
import type { RunOptions } from '../../../simulator/run.ts';
import { GATE, simulate } from '../simulate.ts';

const META = { resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' };
const PENDING = { kind: 'pending' } as const;

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

/** What three nodes of a pool do that an outage of their zone holds, told line by line. */
function told() {
  const objects = (resource: string): readonly KubernetesObject[] =>
    ['n1', 'n2', 'n3'].map(name => ({
      apiVersion: 'v1',
      kind: resource === 'nodes' ? 'Node' : 'NodeClaim',
      metadata: { ...META, name, uid: `${resource}-${name}`, labels: { 'karpenter.sh/nodepool': 'pool' } },
      status: { nodeName: name },
    }));
  const mirror: Mirror = {
    all: resource => new Map(objects(resource).map(object => [object.metadata.uid, object])),
    lastPools: () => new Map(),
    changes: () => 0,
    follow: () => {},
  };
  let now = 0;
  const found: string[] = [];
  const context = { mirror, now: () => toEpochMs(now), violate: (_: string, message: string) => found.push(message) };
  const { onAudit, onCall } = checkRamp(context as unknown as CheckContext);
  const say = (name: string, decision: string, reason: string): void =>
    onAudit?.({ function: 'repair', decision, reason, message: '', kind: 'Node', name });
  for (const name of ['n1', 'n2', 'n3']) say(name, 'blocked', 'ZoneOutage');
  return {
    found,
    say,
    at(seconds: number): void {
      now = seconds * 1000;
    },
    terminate(name: string): void {
      const ref = { type: { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' }, name };
      const time = toEpochMs(now);
      const call: PortCall = { port: 'kubernetes', method: 'delete', args: [ref], time, outcome: PENDING };
      onCall?.(call, { by: 'repair', startTime: time, calls: [call] });
    },
  };
}

describe('a repair whose run ended without a word', () => {
  it('is the first of the ramp when it is tried again', () => {
    const { found, say, at, terminate } = told();
    say('n1', 'settle', 'OutcomeUnknown');
    at(300);
    terminate('n1');
    at(361);
    terminate('n2');
    terminate('n3');
    expect(found).toEqual([]);
  });
});

describe('a node that waits for its turn', () => {
  it('has seen the ramp begin: what another one did in the first minute was not held here', () => {
    const { found, say, at, terminate } = told();
    at(300);
    say('n2', 'blocked', 'RampUp');
    at(361);
    terminate('n2');
    terminate('n3');
    expect(found).toEqual([]);
  });

  it.each([
    ['in the first minute', 'n2', 310],
    ['after another outage', 'n1', 361],
  ])('begins no more than its turn: %s', (_, again, later) => {
    const { found, say, at, terminate } = told();
    at(300);
    say('n2', 'blocked', 'RampUp');
    if (again === 'n1') say('n1', 'blocked', 'ZoneOutage');
    at(later);
    terminate('n2');
    terminate('n3');
    expect(found).toHaveLength(1);
  });
});
