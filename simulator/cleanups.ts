/** How the clean-ups of FinalizerRules answer, as the scenario says. */
import type { CleanupResult } from './scenario/scenario.ts';

export interface CleanupAnswer {
  readonly result: CleanupResult;
  readonly message: string;
}

export interface CleanupAnswers {
  /** From now on. */
  set(rule: string, answer: CleanupAnswer): void;
  /** Default: it succeeds. */
  of(rule: string): CleanupAnswer;
}

export function createCleanupAnswers(): CleanupAnswers {
  const answers = new Map<string, CleanupAnswer>();
  return {
    set: (rule, answer) => answers.set(rule, answer),
    of: rule => answers.get(rule) ?? { result: 'succeed', message: '' },
  };
}
