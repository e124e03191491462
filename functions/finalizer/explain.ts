/**
 * Exports for the command line, which reads nothing else of this folder: the rules of terminations and FinalizerRules, and how their records are
 * read.
 */
export { ORPHAN_CHECK } from './orphans/decide.ts';
export { ORPHAN_CODEC } from './orphans/record.ts';
export { entriesOf, LEDGER_CODEC } from './objects/record.ts';
export { TERMINATING_CONDITION } from './termination/conditions.ts';
export { gracePeriodOf, resolveDeadline } from './termination/rule/deadline.ts';
export { hookTimeoutTime, lastMessageOf, resourceOf, reasonNotAwaited } from './termination/rule/hook-progress.ts';
export { planDrain, type PodStep } from './termination/rule/drain-plan.ts';
export { hasBegun } from './termination/rule/turn.ts';
export { TERMINATION_CODEC, waitOf, type HookProgress, type KeptSettings } from './termination/record.ts';
export { OWNER as FINALIZER_OWNER } from './common/context.ts';
export {
  effectiveTermination,
  takesBackDeadline,
  TERMINATION_BLOCK,
  type EffectiveTermination,
} from './termination/settings.ts';
