/** A thread of the swarm: one task at a time, and its report. */
import { parentPort } from 'node:worker_threads';
import { invariant } from '../../shared/errors.ts';
import { runTask } from './run-task.ts';
import type { SeedTask } from './run-task.ts';

// Most errors are injected faults, and a stack costs more than the rest of one. What fails is run again where there are stacks.
Error.stackTraceLimit = 0;

const port = parentPort;
invariant(port !== null, 'this runs in a thread of its own');
port.on('message', (task: SeedTask) => {
  // What a trial throws is in its report; an error here is one of the swarm itself and ends the thread.
  void runTask(task).then(report => port.postMessage(report));
});
