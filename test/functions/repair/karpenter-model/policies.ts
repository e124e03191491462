/** The repair policies of a provider as Karpenter 1.15 takes them, and the same as Curfew's repair conditions of a provider. */
import fc from 'fast-check';
import { DEFAULT_ACTIONS, type RepairAction, type RepairCondition } from '../../../../shared/domain/repair-policy.ts';
import { hours, minutes, toDurationMs } from '../../../../shared/domain/time.ts';

export interface Policy {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** Absent: the one fallback, for every type and status that the set names. */
  readonly reason?: string;
  /** Minutes. */
  readonly toleration: number;
  /** Minutes; absent: the NodeClaim's own. */
  readonly bound?: number;
  readonly action: 'Reboot' | 'Replace';
  readonly priority?: number;
}

const ANY = { reason: '.*', toleration: 30, bound: 10, action: 'Replace' } as const;
const GPU = { type: 'AcceleratedHardwareReady', status: 'False' } as const;

/** Those of the AWS provider 1.15.1, with its gate `RebootForRepair`. */
export const AWS_POLICIES: readonly Policy[] = [
  { type: 'Ready', status: 'False', ...ANY },
  { type: 'Ready', status: 'Unknown', ...ANY },
  { type: 'StorageReady', status: 'False', ...ANY },
  { type: 'NetworkingReady', status: 'False', ...ANY },
  { type: 'KernelReady', status: 'False', ...ANY },
  { type: 'ContainerRuntimeReady', status: 'False', ...ANY },
  {
    ...GPU,
    reason: '.*XID(46|48|54|62|63|95|109|110|136|140|143|155|156|158).*',
    toleration: 10,
    bound: 5,
    action: 'Reboot',
  },
  { ...GPU, reason: '.*XID(64|74|79|119|120).*', toleration: 10, bound: 5, action: 'Replace' },
  { ...GPU, toleration: 30, bound: 10, action: 'Replace' },
];

export const REBOOT: RepairAction = { type: 'Reboot', timeout: minutes(20), attempts: 2, within: hours(24) };

/** The same to Curfew: the fallback is a repair condition of each type and status. */
export function repairConditionsFor(policies: readonly Policy[]): readonly RepairCondition[] {
  const repairCondition = ({
    type,
    status,
    reason,
    toleration,
    bound,
    action,
    priority = 0,
  }: Policy): RepairCondition => ({
    type,
    status,
    toleration: toDurationMs(toleration * 60_000),
    drainBound: bound === undefined ? 'Inherit' : toDurationMs(bound * 60_000),
    priority,
    actions: action === 'Reboot' ? [REBOOT, ...DEFAULT_ACTIONS] : DEFAULT_ACTIONS,
    ...(reason !== undefined && { reason, matchesReason: text => new RegExp(reason, 's').test(text) }),
  });
  const fallback = policies.find(({ reason }) => reason === undefined);
  const keys = new Set(policies.map(({ type, status }) => `${type} ${status}`));
  const fallbacks = [...keys].flatMap(key => {
    const named = policies.find(({ type, status }) => key === `${type} ${status}`);
    return fallback === undefined || named === undefined
      ? []
      : [{ ...fallback, type: named.type, status: named.status }];
  });
  return [...policies.filter(({ reason }) => reason !== undefined), ...fallbacks].map(repairCondition);
}

const terms = {
  type: fc.constantFrom('Ready', 'AcceleratedHardwareReady', 'StorageReady', 'DiskSlow'),
  status: fc.constantFrom('False' as const, 'Unknown' as const, 'True' as const),
  toleration: fc.constantFrom(0, 5, 10, 30),
  bound: fc.constantFrom(undefined, 0, 5, 10, 60),
  priority: fc.constantFrom(0, 0, 10, 50, 100),
};
const clean = ({ bound, ...rest }: Omit<Policy, 'bound'> & { readonly bound: number | undefined }): Policy =>
  bound === undefined ? rest : { ...rest, bound };

/** Any set that Karpenter accepts: one fallback, which replaces. `Ready=True` is how a node is well. */
const anySet: fc.Arbitrary<readonly Policy[]> = fc
  .tuple(
    fc.record(terms).map(each => clean({ ...each, action: 'Replace' })),
    fc.array(
      fc
        .record({
          ...terms,
          reason: fc.constantFrom('.*', '^XID', 'XID(48|79)', 'Lost'),
          action: fc.constantFrom('Reboot' as const, 'Replace' as const),
        })
        .map(clean),
      { maxLength: 6 },
    ),
  )
  .map(([fallback, specific]) => [...specific, fallback])
  .filter(set => set.every(({ type, status }) => type !== 'Ready' || status !== 'True'));

export const policySets: fc.Arbitrary<readonly Policy[]> = fc.oneof(fc.constant(AWS_POLICIES), anySet);
