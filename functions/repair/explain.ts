/** What the command line reads of repairs, and nothing else of this folder: the rules themselves, and how their records are read. */
export { nodeOfRequest } from './actions/drain.ts';
export { CONFIRMED, decidePool } from './rule/decide.ts';
export { lookAt } from './rule/follow.ts';
export { surroundingsOf } from './rule/guards.ts';
export { dueClause, illsOf, judgeHealth } from './rule/illness.ts';
export { ladderTexts, termsText } from './rule/ladder-text.ts';
export { decideNode, otherAtWork, poolOf, readableSettings, type RepairRules } from './rule/node-verdict.ts';
export { unwatchedTypes } from './policy-status/watched.ts';
export type { LookContext } from './rule/judged-node.ts';
export { effectiveRepair } from './settings/settings.ts';
export { NEW_POOL } from './rule/record.ts';
