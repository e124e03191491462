/** A thread of the swarm. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../threads.ts';
import { runTask } from './run-task.ts';

// Most errors are injected faults, and a stack costs more than the rest of one. What fails is run again where there are stacks.
Error.stackTraceLimit = 0;

// What a trial throws is in its report; an error here is one of the swarm itself and ends the thread.
serveTasks(parentPort, runTask);
