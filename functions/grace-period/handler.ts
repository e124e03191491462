import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler, nodeOf } from './reconcile.ts';

/** Many protections may end in one second, and a run mostly waits (ADR 0022, 0026): a whole batch. */
const RUNS_AT_ONCE = 10;

export const handler = createHandler('grace-period', ['kubernetes', 'records', 'wakeUps', 'events'], createReconciler, {
  parallel: { atOnce: RUNS_AT_ONCE, subjectOf: nodeOf },
});
