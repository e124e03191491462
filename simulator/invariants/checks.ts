/** Which checks run. */
import { checkActsSaid } from './acts-said.ts';
import { checkDenialsSaid } from './denials-said.ts';
import { checkDestructiveCalls } from './destructive-calls.ts';
import { checkDisruptionBudgets } from './disruption-budgets.ts';
import { checkDisruptionTarget } from './disruption-target.ts';
import { checkDrain } from './drain.ts';
import { checkDrainLimits } from './drain-limits.ts';
import { checkEventsSaid } from './events-said.ts';
import { checkExplained } from './explained.ts';
import { checkFinalizerOn } from './finalizer-on.ts';
import { checkFinalizers } from './finalizers.ts';
import { checkForgotten } from './forgotten.ts';
import { checkHeldBack } from './held-back.ts';
import { checkHeldSaid } from './held-said.ts';
import { checkLadderLeft } from './ladder-left.ts';
import { checkLadder } from './ladder-order.ts';
import { checkLeftBehind } from './left-behind.ts';
import { checkMaintenanceLeft } from './maintenance-left.ts';
import { checkOwnership } from './ownership.ts';
import { checkProtection } from './protection.ts';
import { checkRamp } from './ramp.ts';
import { checkRepairBounds } from './repair-bounds.ts';
import { checkRepairGuards } from './repair-guards.ts';
import { checkRefusedCalls } from './refused-calls.ts';
import { checkRepairLimits } from './repair-limits.ts';
import { checkRepair } from './repair.ts';
import { checkRepairTerms } from './repair-terms.ts';
import { checkReplacement } from './replacement.ts';
import { checkRobustness } from './robustness.ts';
import { checkFinalizerRuleEnd } from './finalizer-rule-end.ts';
import { checkFinalizerRuleFinalizers } from './finalizer-rule-finalizers.ts';
import { checkTerminationEnd } from './termination-end.ts';
import { checkTermination } from './termination.ts';
import { checkTimers } from './timers.ts';
import type { MakeCheck } from './invariant.ts';

/** One line each; a check that is not listed does not run. */
export const CHECKS: readonly MakeCheck[] = [
  checkFinalizers,
  checkFinalizerRuleFinalizers,
  checkFinalizerRuleEnd,
  checkDestructiveCalls,
  checkRepair,
  checkRepairGuards,
  checkRepairTerms,
  checkDisruptionBudgets,
  checkReplacement,
  checkRepairBounds,
  checkRepairLimits,
  checkDrainLimits,
  checkRamp,
  checkLadder,
  checkProtection,
  checkDisruptionTarget,
  checkTimers,
  checkOwnership,
  checkLeftBehind,
  checkMaintenanceLeft,
  checkRobustness,
  checkEventsSaid,
  checkExplained,
  checkActsSaid,
  checkDenialsSaid,
  checkRefusedCalls,
  checkHeldSaid,
  checkForgotten,
];

/**
 * Of these the oracles know the settings, pods and answers that the random clusters draw, and nothing else: a person's file may rightly
 * do what they would complain about (a partial drain, a worker's late answer, a pod that tolerates the taint alone).
 */
export const CHECKS_OF_GENERATED_CLUSTERS: readonly MakeCheck[] = [
  checkTermination,
  checkTerminationEnd,
  checkFinalizerOn,
  checkDrain,
  checkHeldBack,
  checkLadderLeft,
];
