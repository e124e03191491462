/** A thread of the explorer. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../threads.ts';
import { exploreTask } from './tasks.ts';

// Losing a race is an error that somebody expects, and a stack costs more than the rest of it.
Error.stackTraceLimit = 0;

serveTasks(parentPort, exploreTask);
