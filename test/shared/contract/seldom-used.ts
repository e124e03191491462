/**
 * Permissions that scenarios without faults hardly make use of, each with its reason and the test that does. Unused means unused under
 * crashes and faults, too: one that is in no test of any kind is taken out of the table.
 */
import { describePermissions } from '../../../runtime/permissions/describe.ts';
import { PERMISSIONS } from '../../../shared/contract/permissions.ts';

export interface SeldomUsed {
  /** `faults`: used by the swarm at the latest. `controlPlane`: on a real API server. `elsewhere`: by the test that the reason names. */
  readonly where: 'faults' | 'controlPlane' | 'elsewhere';
  readonly reason: string;
}

const LEASE = 'electing the forwarder that works is part of its process';

/** By `PART: PERMISSION` in the words of `describePermissions`. */
export const SELDOM_USED: Readonly<Record<string, SeldomUsed>> = {
  'repair: get nodeclaims.karpenter.sh': {
    where: 'faults',
    reason: 'an attempt that was not carried out takes its annotation off the NodeClaim',
  },
  'repair: ec2:DescribeInstances': {
    where: 'elsewhere',
    reason: 'whether an instance was ended of which no answer came: test/functions/repair/actions.test.ts',
  },
  'timer: records of timer': {
    where: 'elsewhere',
    reason: 'which unreadable entries of the due index were parked: test/functions/timer/timer.test.ts',
  },
  'finalizer: publish as curfew.finalizer': {
    where: 'elsewhere',
    reason: 'hooks that are events: test/shared/adapters/hooks',
  },
  'timer: wake finalizer': {
    where: 'elsewhere',
    reason: 'its waits are short, and only a lost wake-up needs the sweep: test/functions/timer/timer.test.ts',
  },
  'timer: wake drain': {
    where: 'elsewhere',
    reason: 'its waits are short, and only a lost wake-up needs the sweep: test/functions/timer/timer.test.ts',
  },
  'forwarder: watch finalizerrules.curfew.dev': {
    where: 'elsewhere',
    reason: 'watched where the CRD is installed: test/forwarder/custom-resources.test.ts',
  },
  'forwarder: create leases.coordination.k8s.io in curfew': { where: 'controlPlane', reason: LEASE },
  'forwarder: get leases.coordination.k8s.io curfew-forwarder in curfew': { where: 'controlPlane', reason: LEASE },
  'forwarder: patch leases.coordination.k8s.io curfew-forwarder in curfew': { where: 'controlPlane', reason: LEASE },
};

/** `PART: PERMISSION`. */
export const describeUse = (part: string, permission: string): string => `${part}: ${permission}`;

/** All that the table grants. */
export function allPermissions(): readonly string[] {
  return Object.entries(PERMISSIONS).flatMap(([part, permissions]) =>
    describePermissions(permissions).map(permission => describeUse(part, permission)),
  );
}
