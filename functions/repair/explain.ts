/**
 * What the command line and the simulator use of repairs, and nothing else of this folder: the rules themselves, how
 * their records are read, and how a replacement is ended.
 */
export { nodeOfRequest } from './drain.ts';
export { decide } from './decide.ts';
export { endReplacement } from './replace.ts';
export { otherWorkOn } from './rule/guards.ts';
export { CONFIRMED, dueClause, judgeHealth, readableSettings, unhealthyStatementsOf } from './rule/incident.ts';
export { decideNode, judgeNode, poolOf, surroundingsOf } from './rule/node-verdict.ts';
export { NEW_POOL } from './record.ts';
export { effectiveRepair, unwatchedTypes } from './settings.ts';
export type { JudgeContext, RepairRules, EntryPolicy } from './rule/verdict.ts';
