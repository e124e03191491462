/**
 * Exports for the command line and the simulator, which import nothing else of this folder. `endReplacement` alone writes: `curfew uninstall`
 * calls it.
 */
export { endReplacement } from './actions/replace.ts';
export { withPastTense } from './node/rule/next-action.ts';
export { poolOf } from './rule/pool-members.ts';
export { type ExplainedNode, explainNode, readLaunchPauses, type SeenCluster } from './explained-node.ts';
export { OWNER as REPAIR_OWNER } from './common/context.ts';
export { poolRecordId } from './record.ts';
export { readVeto } from './node/rule/vetoes.ts';
export { OWN_BLOCKS as REPAIR_BLOCKS, repairBlockInForce, unwatchedTypes } from './common/settings.ts';
