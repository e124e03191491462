/**
 * Terminations on the local stack: the deployed bundle ends instances by the AWS SDK, under its role's statements. Here and not in `npm
 * test` because the stack takes its time to start.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTER_NAME, startLocalStack, type LocalStack } from '../../cli/start/local-stack.ts';
import { readAuditLine, type AuditLine } from '../../cli/start/narrate.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';

const LIMIT_MS = 90_000;
const FINALIZER = 'example.com/custom';

describe('a termination on the local stack', () => {
  let stack: LocalStack;
  const audits: AuditLine[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    stack = await startLocalStack({
      onProblem: message => problems.push(message),
      onLog(line) {
        const audit = readAuditLine(line);
        if (audit !== undefined) audits.push(audit);
      },
    });
    const disruption = { customFinalizerName: FINALIZER };
    stack.cluster.core.seed({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'default' },
      spec: { disruption },
    });
  }, 180_000);
  afterAll(async () => {
    await stack?.stop();
  });

  const claim = (name: string): KubernetesObject | undefined =>
    stack.cluster.core.list(RESOURCES.NodeClaim).items.find(({ metadata }) => metadata.name === name);
  const stateOf = (instanceId: string): string | undefined => stack.aws.ec2.fleet.look(instanceId)?.state;
  async function until(holds: () => boolean): Promise<void> {
    const end = Date.now() + LIMIT_MS;
    while (!holds() && Date.now() < end) await sleep(100);
    expect({ holds: holds(), problems, audits: audits.slice(-5) }).toMatchObject({ holds: true });
  }
  /** A NodeClaim with its Node, both under the finalizer. */
  async function start(name: string, instanceId: string): Promise<void> {
    const { core } = stack.cluster;
    const providerID = `aws:///us-west-2a/${instanceId}`;
    const labels = { 'karpenter.sh/nodepool': 'default' };
    const status = { providerID, nodeName: `node-${name}` };
    core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name, labels }, status });
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${name}`, labels }, spec: { providerID } });
    await until(() => claim(name)?.metadata.finalizers?.includes(FINALIZER) === true);
  }

  it("ends the cluster's instance, then lets Node and NodeClaim go", async () => {
    const instanceId = 'i-00000000000000001';
    await start('own', instanceId);
    expect(stateOf(instanceId)).toBe('running');
    expect(stack.aws.ec2.fleet.look(instanceId)?.tags).toEqual({ 'eks:eks-cluster-name': CLUSTER_NAME });
    stack.cluster.core.delete({ type: RESOURCES.NodeClaim, name: 'own' }, { user: 'somebody' });
    await until(() => claim('own') === undefined);
    expect(stateOf(instanceId)).toBe('terminated');
  }, 200_000);

  it('is refused an instance without the tag, says so, and keeps the NodeClaim', async () => {
    const instanceId = 'i-00000000000000002';
    stack.aws.ec2.fleet.launch({ instanceId });
    stack.aws.ec2.fleet.setState(instanceId, 'running');
    await start('foreign', instanceId);
    stack.cluster.core.delete({ type: RESOURCES.NodeClaim, name: 'foreign' }, { user: 'somebody' });
    await until(() => audits.some(({ message }) => message.includes('UnauthorizedOperation')));
    expect(claim('foreign')?.metadata.finalizers).toEqual([FINALIZER]);
    expect(stateOf(instanceId)).toBe('running');
  }, 200_000);

  it('takes termination protection for a reason to try again, and not for the end', async () => {
    const instanceId = 'i-00000000000000003';
    stack.aws.ec2.fleet.launch({ instanceId, tags: { 'eks:eks-cluster-name': CLUSTER_NAME }, protected: true });
    await start('protected', instanceId);
    stack.cluster.core.delete({ type: RESOURCES.NodeClaim, name: 'protected' }, { user: 'somebody' });
    const refusals = () => audits.filter(({ message }) => message.includes('disableApiTermination'));
    await until(() => refusals().length >= 2);
    expect(claim('protected')?.metadata.finalizers).toEqual([FINALIZER]);
    expect((await stack.aws.deadLetters('finalizer')).ready).toEqual([]);
  }, 200_000);
});
