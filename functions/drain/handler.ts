import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './reconcile.ts';

export const handler = createHandler('drain', ['kubernetes', 'records', 'wakeUps', 'bus', 'events'], createReconciler);
