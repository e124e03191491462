import { createHandler } from '../../shared/lambda/handler.ts';
import { createReconciler } from './route.ts';

export const handler = createHandler('timer', ['dueIndex', 'records', 'wakeUps', 'deadLetters'], createReconciler);
