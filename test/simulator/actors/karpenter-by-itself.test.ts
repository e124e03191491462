import { describe, expect, it } from 'vitest';
import { nodeObjects, simulate, story } from '../simulate.ts';

const ILL = (name: string): string =>
  `    - { at: 1s, condition: { node: ${name}, type: KernelReady, status: "False" } }\n`;
const pool = (disruption: string): string =>
  `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { disruption: ${disruption} } }\n`;
const POD = `    - { apiVersion: v1, kind: Pod, metadata: { name: web, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: a, containers: [{ name: c, image: i }] } }\n`;
const initialized = (name: string, more = ''): string =>
  `    - { at: 1s, patch: { resource: nodeclaims, name: ${name}, merge: { status: { conditions: [{ type: Initialized, status: "True" }${more}] } } } }\n`;
const DRIFTED = ', { type: Drifted, status: "True" }';

const acting = (release: string): string =>
  `  actors: [kubelet, karpenter, disruption, cloud, karpenter-${release}]\n  duration: 50m\n`;
/** A Node with its NodeClaim, of NodePool `default`. */
const machine = (name: string): string =>
  nodeObjects(name, 'True')
    .replace(/^.*kind: NodePool.*\n/, '')
    .replaceAll(`nodepool: ${name}`, 'nodepool: default');
const nodes = (): string => `${machine('a')}${machine('b')}`;

const acts = async (release: string, objects: string, steps: string): Promise<readonly string[]> => {
  const result = await simulate(`${acting(release)}  objects:\n${objects}${nodes()}  steps:\n${steps}`);
  return story(result, `karpenter-${release}`);
};

describe('a Karpenter that acts by itself', () => {
  it('of 1.14 ends an unhealthy node by force after the fixed toleration, whatever its pods', async () => {
    expect(await acts('1.14', `${pool('{}')}${POD}`, ILL('a'))).toEqual([
      '15:30:10.000 karpenter-1.14 patch nodeclaims a',
      '15:30:10.000 karpenter-1.14 delete nodeclaims a',
    ]);
  });

  it('of either release repairs nothing where more than a fifth of the pool is unhealthy', async () => {
    expect(await acts('1.14', pool('{}'), `${ILL('a')}${ILL('b')}`)).toEqual([]);
    expect(await acts('1.15', pool('{}'), `${ILL('a')}${ILL('b')}`)).toEqual([]);
  });

  it('of 1.15 replaces an unhealthy node first, within a budget, and gives its pods their bound', async () => {
    expect(await acts('1.15', `${pool('{}')}${POD}`, `${initialized('a')}${initialized('b')}${ILL('a')}`)).toEqual([
      '15:30:10.000 karpenter-1.15 patch nodes a',
      '15:30:10.000 karpenter-1.15 create nodeclaims default-115-1',
      '15:30:40.000 karpenter-1.15 patch nodeclaims a',
      '15:30:40.000 karpenter-1.15 delete nodeclaims a',
    ]);
  });

  it('of 1.15 repairs nothing without room in a budget that names the reason', async () => {
    const none = pool('{ budgets: [{ nodes: "0", reasons: [Unhealthy] }] }');
    expect(await acts('1.15', none, `${initialized('a')}${initialized('b')}${ILL('a')}`)).toEqual([]);
  });

  it.each([
    ['whose time it is', '{ nodes: "0", reasons: [Unhealthy], schedule: "0 15 * * *", duration: 40m }', '15:40:00'],
    ['whose time it is not', '{ nodes: "0", reasons: [Unhealthy], schedule: "0 16 * * *", duration: 40m }', '15:30:10'],
    [
      'whose time cannot be read',
      '{ nodes: "5", reasons: [Drifted], schedule: "61 * * * *", duration: 40m }',
      undefined,
    ],
  ])('holds to a budget %s', async (_, budget, begin) => {
    const told = await acts(
      '1.15',
      pool(`{ budgets: [${budget}] }`),
      `${initialized('a')}${initialized('b')}${ILL('a')}`,
    );
    expect(told[0]?.slice(0, 8)).toBe(begin);
  });

  it('replaces what has drifted, unless a pod of it is protected', async () => {
    const steps = `${initialized('a', DRIFTED)}${initialized('b', DRIFTED)}`;
    const told = await acts('1.14', `${pool('{ budgets: [{ nodes: "2" }] }')}${POD}`, steps);
    expect(told).toEqual([
      '15:00:10.000 karpenter-1.14 patch nodes b',
      '15:00:20.000 karpenter-1.14 delete nodeclaims b',
    ]);
  });

  it('ends what is empty for as long as the NodePool says, one at a time', async () => {
    const told = await acts('1.15', pool('{ consolidateAfter: 5m }'), `${initialized('a')}${initialized('b')}`);
    expect(told).toEqual([
      '15:05:10.000 karpenter-1.15 patch nodes a',
      '15:05:20.000 karpenter-1.15 delete nodeclaims a',
    ]);
  });
});
