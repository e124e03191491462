import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './reconcile.ts';

export const handler = createHandler('grace-period', ['kubernetes', 'records', 'wakeUps', 'events'], createReconciler);
