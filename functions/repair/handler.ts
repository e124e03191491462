import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './reconcile.ts';

export const handler = createHandler('repair', ['kubernetes', 'records', 'wakeUps', 'events'], createReconciler);
