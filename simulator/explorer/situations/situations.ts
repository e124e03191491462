/** All situations; one line for each concern. */
import type { Situation } from '../situation.ts';
import { DRAIN_LIMITS_SITUATIONS } from './drain-limits.ts';
import { DRAIN_SITUATIONS } from './drain.ts';
import { FINALIZER_SITUATIONS } from './finalizer.ts';
import { GRACE_PERIOD_SITUATIONS } from './grace-period.ts';
import { KERNEL_SITUATIONS } from './kernel.ts';
import { ORPHAN_SITUATIONS } from './orphans.ts';
import { REPAIR_LADDER_SITUATIONS } from './repair-ladder.ts';
import { REPAIR_LIMITS_SITUATIONS } from './repair-limits.ts';
import { REPAIR_SITUATIONS } from './repair.ts';
import { REPAIR_VOLUNTARY_SITUATIONS } from './repair-voluntary.ts';
import { FINALIZER_RULE_SITUATIONS } from './finalizer-rules.ts';
import { TIMER_SITUATIONS } from './timer.ts';
import { TWO_FUNCTIONS_SITUATIONS } from './two-functions.ts';
import { REPAIR_AND_OTHERS_SITUATIONS } from './repair-and-others.ts';

export const SITUATIONS: readonly Situation[] = [
  ...KERNEL_SITUATIONS,
  ...REPAIR_SITUATIONS,
  ...REPAIR_LADDER_SITUATIONS,
  ...REPAIR_LIMITS_SITUATIONS,
  ...REPAIR_VOLUNTARY_SITUATIONS,
  ...GRACE_PERIOD_SITUATIONS,
  ...TIMER_SITUATIONS,
  ...FINALIZER_SITUATIONS,
  ...ORPHAN_SITUATIONS,
  ...FINALIZER_RULE_SITUATIONS,
  ...DRAIN_SITUATIONS,
  ...DRAIN_LIMITS_SITUATIONS,
  ...TWO_FUNCTIONS_SITUATIONS,
  ...REPAIR_AND_OTHERS_SITUATIONS,
];
