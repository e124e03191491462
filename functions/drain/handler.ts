import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './route.ts';

export const handler = createHandler('drain', ['kubernetes', 'records', 'wakeUps', 'bus', 'events'], createReconciler);
