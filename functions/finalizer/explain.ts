/**
 * Exports for the command line, which reads nothing else of this folder: the rules of terminations and FinalizerRules, and how their records are
 * read.
 */
export { ORPHAN_CHECK } from './orphans/decide.ts';
export { ORPHAN_CODEC } from './orphans/record.ts';
export { entriesOf, LEDGER_CODEC } from './objects/record.ts';
export { TERMINATING_CONDITION } from './termination/conditions.ts';
export { FROM_ANNOTATION, hookTimeoutTime, planDrain, type PodStep } from './termination/decide.ts';
export { hasBegun, TERMINATION_CODEC, type HookProgress, type KeptSettings } from './termination/record.ts';
export { effectiveTermination } from './termination/settings.ts';
