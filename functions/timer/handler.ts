import { createHandler } from '../../shared/lambda/handler.ts';
import { createWatchedReconciler } from './reconcile.ts';

export const handler = createHandler(
  'timer',
  ['dueIndex', 'records', 'wakeUps', 'deadLetters'],
  createWatchedReconciler,
);
