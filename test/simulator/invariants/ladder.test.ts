import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { createClimbers } from '../../../simulator/invariants/ladder.ts';
import type { PortCall, Run } from '../../../simulator/invariants/invariant.ts';
import type { Mirror } from '../../../simulator/invariants/mirror.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const node: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', uid: 'uid-a', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  spec: { providerID: 'aws:///z/i-1' },
};
const now = toEpochMs(1_000_000);
const run: Run = { by: 'repair', startTime: now, calls: [] };
const call = (port: PortCall['port'], method: string, ...args: readonly unknown[]): PortCall => ({
  port,
  method,
  args,
  time: now,
  outcome: { kind: 'pending' },
});

function climbersOfOneNode() {
  let scans = 0;
  const nodes = mirrorOf({ nodes: [node] });
  const mirror: Mirror = {
    ...nodes,
    all(resource) {
      scans += 1;
      return nodes.all(resource);
    },
  };
  return {
    climbers: createClimbers({ mirror, now: () => now, quietSince: () => now, memoryOf: () => 'whole' }),
    scans: () => scans,
  };
}

const drainRequested = (uid: string) => [{ detailType: 'DrainRequested', detail: { node: { name: 'a', uid } } }];
const created = (attempt: string) => ({ metadata: { annotations: { 'curfew.dev/repair': attempt } } });

describe('nodes on which an action of the ladder is under way', () => {
  it.each([
    ['a reboot', call('instances', 'reboot', 'aws:///z/i-1'), true],
    ['a reboot of another', call('instances', 'reboot', 'aws:///z/i-2'), false],
    ['a request to drain', call('bus', 'publish', drainRequested('uid-a')), true],
    ['a request to drain another', call('bus', 'publish', drainRequested('uid-b')), false],
    ['a custom resource', call('kubernetes', 'create', {}, created('uid-a.1')), true],
    ['a custom resource of another', call('kubernetes', 'create', {}, created('uid-ab.1')), false],
  ])('%s', (_, made, isUnderWay) => {
    const { climbers } = climbersOfOneNode();
    climbers.onCall(made, run);
    expect(climbers.has('uid-a')).toBe(isUnderWay);
  });

  it.each([
    ['a read', call('kubernetes', 'get', { type: { resource: 'nodes' }, name: 'a' })],
    ['an Event', call('kubernetes', 'create', {}, { metadata: { name: 'a' } })],
    ['other news', call('bus', 'publish', [{ detailType: 'RepairStarted', detail: {} }])],
  ])('%s costs the same in a cluster of any size: no object is looked at', (_, made) => {
    const { climbers, scans } = climbersOfOneNode();
    climbers.onCall(made, run);
    expect(scans()).toBe(0);
  });
});
