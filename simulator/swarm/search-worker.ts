/** A thread of the search. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../threads.ts';
import { runNamed } from './search.ts';

Error.stackTraceLimit = 0;

serveTasks(parentPort, runNamed);
