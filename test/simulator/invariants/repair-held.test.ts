/** I5 takes an Event for a wait that can be seen, when the run that recorded it died before its audit line. */
import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, toEpochMs } from '../../../shared/domain/time.ts';
import type { Check, CheckContext } from '../../../simulator/invariants/invariant.ts';
import type { Mirror, Mirrored } from '../../../simulator/invariants/mirror.ts';
import { checkRepair } from '../../../simulator/invariants/repair.ts';
import { mirrorOf } from '../../builders/mirror.ts';

const metadata = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2024-11-01T14:00:00Z',
  labels: { 'karpenter.sh/nodepool': 'pool' },
});
const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T14:00:00Z' }];
const OBJECTS: Partial<Record<Mirrored, KubernetesObject>> = {
  nodes: {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: metadata('n1'),
    spec: { providerID: 'aws:///a/i-1' },
    status: { conditions },
  },
  nodeclaims: {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: metadata('n1'),
    status: { nodeName: 'n1', providerID: 'aws:///a/i-1' },
  },
  nodepools: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: metadata('pool'), spec: { repair: {} } },
  configmaps: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata('curfew-config'), namespace: 'curfew' },
    data: { 'config.toml': '[featureGates]\nnodeRepair = true\n' },
  },
};

/** What the check says of a quiet hour. @param happens what it hears in each minute */
function complaintsOver(happens: (check: Check, minute: number) => void): readonly string[] {
  const of = (resource: Mirrored): KubernetesObject[] => [OBJECTS[resource] ?? []].flat();
  const mirror: Mirror = {
    ...mirrorOf(Object.fromEntries(Object.keys(OBJECTS).map(resource => [resource, of(resource as Mirrored)]))),
    follow(listener) {
      for (const resource of Object.keys(OBJECTS) as Mirrored[])
        for (const object of of(resource)) listener(resource, object.metadata.uid, object);
    },
  };
  const start = toEpochMs(Date.UTC(2024, 10, 1, 16));
  let now = start;
  const found: string[] = [];
  const violate = (_: string, text: string): number => found.push(text);
  const context = {
    mirror,
    now: () => now,
    quietSince: () => start,
    violate,
    clockTolerance: 0,
    lastDenial: () => -Infinity,
  };
  const check = checkRepair(context as unknown as CheckContext);
  for (let minute = 0; minute < 60; minute += 1) {
    now = toEpochMs(start + minute * minutes(1));
    happens(check, minute);
    check.onMinute?.();
  }
  return found;
}

/** An Event with this message is recorded every five minutes. */
const event =
  (message: string) =>
  ({ onCall }: Check, minute: number): void => {
    const involvedObject = { kind: 'Node', name: 'n1', uid: 'uid-n1' };
    const body = { ...metadata('e'), reason: 'NodeRepairBlocked', message, involvedObject };
    // Whether the API server has recorded it or not.
    const outcome = { kind: 'failed', error: new Error('busy') };
    const call = { port: 'kubernetes', method: 'create', args: [{ resource: 'events' }, body], outcome };
    const run = { by: 'repair', calls: [] };
    type Heard = Parameters<NonNullable<typeof onCall>>;
    if (minute % 5 === 0) onCall?.(call as unknown as Heard[0], run as unknown as Heard[1]);
  };

/** The audit log says these, one a minute. */
const audits =
  (...lines: readonly (readonly [decision: string, reason: string])[]) =>
  ({ onAudit }: Check, minute: number): void => {
    const [decision, reason] = lines[minute] ?? [];
    if (decision === undefined || reason === undefined) return;
    onAudit?.({ function: 'repair', decision, reason, message: '', kind: 'Node', name: 'n1' });
  };

describe('a due node that is left alone', () => {
  it.each([
    'Reboot did not help; no further action is set',
    'Reboot could not be carried out: throttled; it is tried again at 2024-11-01T16:30:00Z',
    'repairs start again slowly after an outage: 1 in this minute, twice as many from 2024-11-01T16:01:00Z on',
    '3 repairs in NodePool pool did not help: their replacements fail the same way (Ready=False); held until 2024-11-01T18:00:00Z',
  ])('is accounted for by: %s', message => {
    expect(complaintsOver(event(message))).toEqual([]);
  });

  it('is not by a reason that the objects contradict', () => {
    const message = '2 of 3 nodes of NodePool pool are unhealthy, repair stops above 1';
    expect(complaintsOver(event(message))).toEqual([
      expect.stringMatching(/^Node n1 .* could be repaired since .* and is not$/),
    ]);
  });

  it('is by its ladder, whatever cannot be read afterwards', () => {
    const exhausted = ['exhausted', 'ActionsExhausted'] as const;
    expect(complaintsOver(audits(exhausted, ['wait', 'ReadRefused']))).toEqual([]);
    expect(complaintsOver(audits(exhausted, ['recovered', 'Recovered']))).toHaveLength(1);
  });
});
