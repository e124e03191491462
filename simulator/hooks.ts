/** How hooks answer, as the scenario says. */
import { failedAnswer } from '../shared/contract/hook-answer.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import type { HookAnswer } from '../shared/domain/hook-answer.ts';
import type { HookCall, Hooks } from '../shared/ports/hooks.ts';
import type { CleanupAnswer, CleanupAnswers } from './cleanups.ts';
import type { HookResult } from './scenario/scenario.ts';

export interface HookScript {
  readonly result: HookResult;
  readonly message: string;
}

export interface HookAnswers {
  /** From now on. */
  set(hook: string, answer: HookScript): void;
  /** The port of a function; `onCall` is called for each call. */
  hooks(onCall: (call: HookCall) => void, cleanups: CleanupAnswers): Hooks;
}

export function createHookAnswers(): HookAnswers {
  const answers = new Map<string, HookScript>();
  return {
    set: (hook, answer) => answers.set(hook, answer),
    hooks: (onCall, cleanups) => ({
      async invoke(call) {
        if (call.target.kind === 'customResource')
          throw new Error('a custom resource is made at the API server, not called');
        onCall(call);
        if (call.purpose === 'cleanup') return toAnswer(cleanups.of(call.name));
        const answer = toAnswer(answers.get(call.name) ?? { result: 'succeed', message: '' });
        // Whoever is only handed the work says nothing of how it goes; `fail` stands for a call that is not taken on.
        return call.takenOnWithin !== undefined && answer.kind === 'succeeded' ? { kind: 'pending' } : answer;
      },
    }),
  };
}

function toAnswer({ result, message }: HookScript | CleanupAnswer): HookAnswer {
  switch (result) {
    case 'succeed':
    case 'notFound':
      return { kind: 'succeeded' };
    case 'fail':
      return failedAnswer(message);
    case 'silent':
      return { kind: 'pending' };
  }
}

/** The object of a call, as the trace has it. */
export const aboutOf = ({ about }: HookCall): JsonObject => ({ ...about });
