/** What the command line reads of repairs, and nothing else of this folder: the rules themselves, and how their records are read. */
export { nodeOfRequest } from './actions/drain.ts';
export { CONFIRMED, decidePool } from './decide.ts';
export { lookAt } from './follow.ts';
export { surroundingsOf } from './guards.ts';
export { dueClause, illsOf, judgeHealth } from './illness.ts';
export { ladderTexts, termsText } from './ladder-text.ts';
export { decideNode, otherAtWork, poolOf, readableSettings, type RepairRules } from './node-verdict.ts';
export { unwatchedTypes } from './policy-status/watched.ts';
export type { LookContext } from './seen.ts';
export { effectiveRepair } from './settings.ts';
export { NEW_POOL } from './state.ts';
