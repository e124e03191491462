import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './reconcile.ts';

export const handler = createHandler('timer', ['dueIndex', 'records', 'wakeUps', 'deadLetters'], createReconciler);
