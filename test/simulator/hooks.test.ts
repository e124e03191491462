import { describe } from 'vitest';
import { createCleanupAnswers } from '../../simulator/cleanups.ts';
import { createHookAnswers } from '../../simulator/hooks.ts';
import { defineHooksContract } from '../contract/hooks.contract.ts';

describe('Hooks of the simulation', () => {
  defineHooksContract(() => {
    const answers = createHookAnswers();
    const cleanups = createCleanupAnswers();
    const keys: string[] = [];
    return {
      hooks: answers.hooks(({ key }) => void keys.push(key), cleanups),
      answers(purpose, result, message = '') {
        if (purpose === 'cleanup') cleanups.set('databases', { result, message });
        else if (result !== 'notFound') answers.set('deregister', { result, message });
      },
      // In place of what Lambda says, the scenario has the words.
      refuses: () => answers.set('deregister', { result: 'fail', message: 'no such function' }),
      keys: () => keys,
    };
  });
});
