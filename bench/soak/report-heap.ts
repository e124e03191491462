/** For `node --expose-gc --import`: makes any program answer what its heap holds once the garbage is gone, without a change to it. */
import { memoryUsage } from 'node:process';
import { answerQuestions } from '../measure/answering.ts';

answerQuestions({
  heap() {
    globalThis.gc?.();
    return memoryUsage().heapUsed;
  },
});
