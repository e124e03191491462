/** For `node --import`: makes any program answer how much it uses, without a change to it. */
import { answerQuestions } from './answering.ts';
import { readUsage } from './usage.ts';

answerQuestions({ usage: readUsage });
