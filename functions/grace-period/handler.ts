import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler, nodeOf } from './reconcile.ts';

/** Many protections may end in one second, and a run mostly waits (ADR 0022). */
const RUNS_AT_ONCE = 4;

export const handler = createHandler(
  'grace-period',
  ['kubernetes', 'records', 'wakeUps', 'events'],
  createReconciler,
  {},
  { atOnce: RUNS_AT_ONCE, subjectOf: nodeOf },
);
