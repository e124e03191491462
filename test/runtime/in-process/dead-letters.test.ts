import { describe } from 'vitest';
import { createInProcessDeadLetters } from '../../../runtime/in-process/dead-letters.ts';
import type { BuriedMessage } from '../../../runtime/system-parts.ts';
import { defineDeadLettersContract } from '../../contract/dead-letters.contract.ts';

describe('DeadLetters in this process', () => {
  defineDeadLettersContract(async () => {
    const buried: BuriedMessage[] = [];
    return {
      deadLetters: createInProcessDeadLetters(message => buried.push(message)),
      parked: async () => buried.splice(0),
    };
  });
});
