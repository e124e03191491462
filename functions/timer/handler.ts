import { createHandler } from '../../shared/lambda/handler.ts';
import { createWatchedTimer } from './canary.ts';

export const handler = createHandler('timer', ['dueIndex', 'records', 'wakeUps', 'deadLetters'], createWatchedTimer);
