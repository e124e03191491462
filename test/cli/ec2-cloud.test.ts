import { expect, it } from 'vitest';
import { cloudOnEc2 } from '../../cli/start/ec2-cloud.ts';
import { createFleet } from '../../packages/local-aws/src/ec2/fleet.ts';
import { addDuration, hours, toEpochMs } from '../../shared/domain/time.ts';

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
