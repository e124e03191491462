import { describe, expect, it } from 'vitest';
import { nodeObjects, simulate, story } from '../simulate.ts';

const POOL = `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { disruption: { budgets: [{ nodes: "1" }] } } }\n`;
const machine = (name: string): string =>
  nodeObjects(name, 'True')
    .replace(/^.*kind: NodePool.*\n/, '')
    .replaceAll(`nodepool: ${name}`, 'nodepool: default');
const INITIALIZED = `    - { at: 1s, patch: { resource: nodeclaims, name: a, merge: { status: { conditions: [{ type: Initialized, status: "True" }] } } } }\n`;
const ill = (reason: string): string =>
  `    - { at: 1s, condition: { node: a, type: AcceleratedHardwareReady, status: "False", reason: ${reason} } }\n`;
const HELD = `    - { apiVersion: v1, kind: Pod, metadata: { name: web, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: a, containers: [{ name: c, image: i }] } }\n`;
const DEAD = `    - { at: 0s, patch: { resource: nodes, name: a, merge: { metadata: { annotations: { sim.curfew.dev/kubelet: dead } } } } }\n`;
const broken = (result: string): string =>
  `    - { at: 2s, cloud: { providerID: "aws:///us-west-2a/i-a", fail: ${result} } }\n`;

interface Told {
  readonly acts: readonly string[];
  /** Each condition that it set on the NodeClaim, once: time, type, status, reason. */
  readonly conditions: readonly string[];
}

/** With one of 1.15. */
async function play({
  objects = '',
  steps,
  duration = '50m',
}: {
  objects?: string;
  steps: string;
  duration?: string;
}): Promise<Told> {
  const head = `  actors: [kubelet, karpenter, disruption, cloud, karpenter-1.15]\n  duration: ${duration}\n`;
  const conditions: string[] = [];
  const result = await simulate(
    `${head}  objects:\n${POOL}${objects}${machine('a')}${machine('b')}  steps:\n${steps}`,
    {
      parts(parts) {
        parts.core.observe(({ resource, after }) => {
          if (resource.resource !== 'nodeclaims' || after?.metadata.name !== 'a') return;
          const found = JSON.parse(JSON.stringify(after.status?.['conditions'] ?? [])) as Record<string, string>[];
          for (const { type, status, reason, lastTransitionTime } of found)
            if (type !== 'Initialized' || status === 'Unknown')
              conditions.push(`${String(lastTransitionTime).slice(11, 19)} ${type}=${status} ${reason}`);
        });
        return parts;
      },
    },
  );
  return { acts: story(result, 'karpenter-1.15'), conditions: [...new Set(conditions)] };
}

const CYCLE = (request: string, issue: string, end: string): readonly string[] => [
  `${request} DisruptionReason=True Unhealthy`,
  `${request} Rebooting=True RebootRequested`,
  `${issue} Rebooting=True RebootIssued`,
  `${issue} Initialized=Unknown Rebooting`,
  `${end} Rebooting=False RebootSucceeded`,
];

describe('a reboot in place by Karpenter 1.15', () => {
  it('fences the node off, notes its boot, and is over with another one that is Ready', async () => {
    const { acts, conditions } = await play({ steps: `${INITIALIZED}${ill('NvidiaXID48Error')}`, duration: '15m' });
    expect(conditions).toEqual(CYCLE('15:10:10', '15:10:20', '15:10:30'));
    expect(acts).toEqual([
      '15:10:10.000 karpenter-1.15 patch nodeclaims a',
      '15:10:20.000 karpenter-1.15 patch nodes a',
      '15:10:20.000 karpenter-1.15 patch nodeclaims a',
      '15:10:30.000 karpenter-1.15 patch nodes a',
      '15:10:30.000 karpenter-1.15 patch nodeclaims a',
      '15:10:30.000 karpenter-1.15 patch nodes a',
    ]);
  });

  it('comes twice a day at the most, each time a toleration after the last, and then a replacement', async () => {
    const { acts, conditions } = await play({ steps: `${INITIALIZED}${ill('NvidiaXID48Error')}` });
    expect(conditions.slice(0, 10)).toEqual([
      ...CYCLE('15:10:10', '15:10:20', '15:10:30'),
      ...CYCLE('15:20:30', '15:20:40', '15:20:50'),
    ]);
    expect(conditions.slice(10)).toEqual(['15:30:50 DisruptionReason=True Unhealthy']);
    expect(acts.slice(-2)).toEqual([
      '15:31:00.000 karpenter-1.15 patch nodeclaims a',
      '15:31:00.000 karpenter-1.15 delete nodeclaims a',
    ]);
  });

  it('is no answer to a fault that says replacement, nor to one without a code', async () => {
    const replaced = await play({ steps: `${INITIALIZED}${ill('NvidiaXID79Error')}`, duration: '12m' });
    expect(replaced.conditions).toEqual(['15:10:10 DisruptionReason=True Unhealthy']);
    expect(replaced.acts.at(-1)).toBe('15:10:20.000 karpenter-1.15 delete nodeclaims a');
    const other = await play({ steps: `${INITIALIZED}${ill('NvidiaDoubleBitError')}`, duration: '35m' });
    expect(other.conditions).toEqual(['15:30:10 DisruptionReason=True Unhealthy']);
  });

  it('waits for pods as long as they may take, and deletes none of them', async () => {
    const steps = `${INITIALIZED}${ill('NvidiaXID48Error')}`;
    const { acts, conditions } = await play({ objects: HELD, steps, duration: '18m' });
    expect(conditions).toEqual(CYCLE('15:10:10', '15:15:10', '15:15:20'));
    expect(acts.join()).not.toContain('pods');
  });

  it('that the provider does not take, or after which the machine stays away, ends the node', async () => {
    const refused = await play({ steps: `${broken('error')}${INITIALIZED}${ill('NvidiaXID48Error')}` });
    expect(refused.conditions).toEqual(CYCLE('15:10:10', '', '').slice(0, 2));
    expect(refused.acts.at(-1)).toBe('15:15:30.000 karpenter-1.15 delete nodeclaims a');
    const silent = await play({ steps: `${DEAD}${INITIALIZED}${ill('NvidiaXID48Error')}` });
    expect(silent.conditions).toEqual(CYCLE('15:10:10', '15:10:20', '').slice(0, 4));
    expect(silent.acts.at(-1)).toBe('15:30:30.000 karpenter-1.15 delete nodeclaims a');
  });

  it('is carried out for whoever asks for it, and refused where its bound cannot be read', async () => {
    const asked = `    - { at: 10s, patch: { resource: nodeclaims, name: a, merge: { status: { conditions: [{ type: Rebooting, status: "True", reason: RebootRequested, lastTransitionTime: "2024-11-01T15:00:10Z" }] } } } }\n`;
    const bound = `    - { at: 9s, patch: { resource: nodeclaims, name: a, merge: { metadata: { annotations: { karpenter.sh/reboot-termination-grace-period: soon } } } } }\n`;
    expect((await play({ steps: asked, duration: '2m' })).conditions).toEqual([
      '15:00:10 Rebooting=True RebootRequested',
      '15:00:20 Rebooting=True RebootIssued',
      '15:00:20 Initialized=Unknown Rebooting',
      '15:00:30 Rebooting=False RebootSucceeded',
    ]);
    expect((await play({ steps: `${bound}${asked}`, duration: '2m' })).conditions).toEqual([
      '15:00:10 Rebooting=True RebootRequested',
      '15:00:10 Rebooting=False RebootFailed',
    ]);
  });
});
