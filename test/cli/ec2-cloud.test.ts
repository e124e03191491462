import { expect, it } from 'vitest';
import { cloudOnEc2 } from '../../cli/start/ec2-cloud.ts';
import { createFleet } from '../../packages/local-aws/src/ec2/fleet.ts';
import { addDuration, hours, minutes, toEpochMs } from '../../shared/domain/time.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { startCloud } from '../../simulator/actors/cloud.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { createCluster } from '../../simulator/world.ts';

it('runs an instance of the cluster for each providerID of EC2, once', () => {
  let now = toEpochMs(0);
  const fleet = createFleet({ clock: { now: () => now, sleep: () => Promise.resolve() } });
  const cloud = cloudOnEc2(fleet, 'local');
  const tags = { 'eks:eks-cluster-name': 'local' };
  cloud.add('aws:///us-west-2a/i-00000001');
  cloud.add('aws:///us-west-2b/i-00000002', { autoScalingGroup: 'eks-blue' });
  for (const other of ['gce://p/z/i-00000003', 'aws:///us-west-2a/i-0abc', '']) cloud.add(other);
  expect(fleet.all()).toEqual([
    { instanceId: 'i-00000001', availabilityZone: 'us-west-2a', state: 'running', launchTime: now, tags },
    {
      instanceId: 'i-00000002',
      availabilityZone: 'us-west-2b',
      state: 'running',
      launchTime: now,
      tags: { 'eks:cluster-name': 'local', 'aws:autoscaling:groupName': 'eks-blue' },
    },
  ]);
  cloud.remove('aws:///us-west-2a/i-00000001');
  cloud.add('aws:///us-west-2a/i-00000001');
  expect(fleet.look('i-00000001')?.state).toBe('terminated');
  now = addDuration(now, hours(2));
  cloud.add('aws:///us-west-2a/i-00000001');
  expect(fleet.look('i-00000001')).toBeUndefined();
});

it('keeps an instance for an hour after its end', () => {
  let now = toEpochMs(0);
  const fleet = createFleet({ clock: { now: () => now, sleep: () => Promise.resolve() } });
  const { instanceId } = fleet.launch();
  fleet.setState(instanceId, 'running');
  fleet.reboot([instanceId]);
  fleet.setState(instanceId, 'terminated');
  now = addDuration(now, minutes(59));
  fleet.launch();
  expect(fleet.rebootsOf(instanceId)).toBe(1);
  now = addDuration(now, minutes(2));
  fleet.launch();
  expect(fleet.rebootsOf(instanceId)).toBe(0);
});

it('remembers an instance as long as a Node or NodeClaim names it', async () => {
  const providerID = 'aws:///us-west-2a/i-00000001';
  const time = createVirtualTime({ start: toEpochMs(0) });
  const fleet = createFleet({ clock: time });
  const core = createCluster(time);
  startCloud({ core, scheduler: time, cloud: cloudOnEc2(fleet, 'local') });
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { providerID } };
  core.create(RESOURCES.Node, node);
  core.create(RESOURCES.NodeClaim, { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name: 'n1' } });
  const status = { status: { providerID } };
  core.patch({ type: RESOURCES.NodeClaim, name: 'n1' }, { type: 'merge', body: status }, { subresource: 'status' });
  fleet.setState('i-00000001', 'terminated');
  await time.runUntil(addDuration(time.now(), hours(2)));
  const isThereAgain = (): boolean => {
    core.delete({ type: RESOURCES.Node, name: 'n1' });
    core.create(RESOURCES.Node, node);
    return fleet.look('i-00000001') !== undefined;
  };
  expect(isThereAgain()).toBe(false);
  core.delete({ type: RESOURCES.NodeClaim, name: 'n1' });
  expect(isThereAgain()).toBe(true);
});
