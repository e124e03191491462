import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './route.ts';

export const handler = createHandler('grace-period', ['kubernetes', 'records', 'wakeUps', 'events'], createReconciler);
