/**
 * The repair policies of Karpenter's AWS provider 1.15.1, as a profile beside the older table (`repair-policy.ts`): with reasons, drain bounds
 * and reboots, and as there with `NetworkUnavailable=True`. The reasons are codes of NVIDIA's driver. Its `.*` is any reason at all, as no pattern is.
 */
import {
  AWS_REPAIR_CONDITIONS,
  DEFAULT_ACTIONS,
  DEFAULT_ATTEMPTS,
  DEFAULT_WITHIN,
  type RepairAction,
  type RepairCondition,
} from './repair-policy.ts';
import { minutes } from './time.ts';

export const PROVIDER_POLICIES = ['aws-1.15'] as const;
export type ProviderPolicies = (typeof PROVIDER_POLICIES)[number];

/** Two reboots of a node in a day, of twenty minutes each, then a replacement. */
const REBOOT_FIRST: readonly RepairAction[] = [
  { type: 'Reboot', timeout: minutes(20), attempts: DEFAULT_ATTEMPTS, within: DEFAULT_WITHIN },
  ...DEFAULT_ACTIONS,
];

const withReason = (pattern: string): Pick<RepairCondition, 'reason' | 'matchesReason'> => {
  const expression = new RegExp(pattern, 's');
  return { reason: pattern, matchesReason: reason => expression.test(reason) };
};

const DRAIN = { drainBound: minutes(10) };
const GPU = { type: 'AcceleratedHardwareReady', status: 'False' } as const;
const FAST = { toleration: minutes(10), drainBound: minutes(5) };

const AWS_1_15: readonly RepairCondition[] = [
  ...AWS_REPAIR_CONDITIONS.flatMap((repairCondition): readonly RepairCondition[] => {
    if (repairCondition.type === 'NetworkUnavailable') return [repairCondition];
    return repairCondition.type === GPU.type ? [] : [{ ...repairCondition, ...DRAIN }];
  }),
  {
    ...GPU,
    ...FAST,
    ...withReason('.*XID(46|48|54|62|63|95|109|110|136|140|143|155|156|158).*'),
    actions: REBOOT_FIRST,
  },
  { ...GPU, ...FAST, ...withReason('.*XID(64|74|79|119|120).*') },
  { ...GPU, toleration: minutes(30), ...DRAIN },
];

/** The repair conditions of a profile; without one those of the provider before 1.15. */
export const repairConditionsOfProvider = (profile: ProviderPolicies | undefined): readonly RepairCondition[] =>
  profile === undefined ? AWS_REPAIR_CONDITIONS : AWS_1_15;
