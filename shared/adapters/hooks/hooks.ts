/**
 * Calls hooks: a Lambda function by its name, or an event on Curfew's bus that a worker answers with `TerminationHookAnswered`. What a
 * Lambda answers is checked: garbage is a failure with a message, never a success (I1).
 */
import { SOURCES } from '../../contract/names.ts';
import { failedAnswer, hookAnswerOf } from '../../contract/hook-answer.ts';
import type { DurationMs } from '../../domain/time.ts';
import { RetryableError } from '../../errors.ts';
import type { EventBus } from '../../ports/event-bus.ts';
import type { HookCall, Hooks } from '../../ports/hooks.ts';

/**
 * Runs a function and answers its JSON, or says why it failed. With `takenOnWithin` (milliseconds) it is only handed over, within that time.
 * Throws `RetryableError` when the call could not be made.
 */
export type InvokeFunction = (
  functionName: string,
  payload: Readonly<Record<string, unknown>>,
  options?: { readonly takenOnWithin?: DurationMs },
) => Promise<
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'takenOn' }
  | { readonly kind: 'failed'; readonly message: string }
>;

export interface HooksOptions {
  readonly bus: EventBus;
  readonly cluster: string;
  readonly invokeFunction: InvokeFunction;
}

/**
 * A refusal of the function or the bus is the answer `failed`; an event is `pending` until its worker answers. Custom
 * resources are not called from here.
 */
export function createHooks({ bus, cluster, invokeFunction }: HooksOptions): Hooks {
  return {
    async invoke(call) {
      const { target } = call;
      switch (target.kind) {
        case 'lambda': {
          const { takenOnWithin } = call;
          const options = takenOnWithin === undefined ? {} : { takenOnWithin };
          const outcome = await invokeFunction(target.functionName, toPayload(call, cluster), options);
          if (outcome.kind === 'takenOn') return { kind: 'pending' };
          return outcome.kind === 'failed'
            ? failedAnswer(outcome.message)
            : hookAnswerOf(outcome.value, `function ${target.functionName}`);
        }
        case 'event': {
          const detail = { ...toPayload(call, cluster), detailType: target.detailType };
          const [outcome] = await bus.publish([{ source: SOURCES.finalizer, detailType: target.detailType, detail }]);
          if (outcome?.kind === 'published') return { kind: 'pending' };
          if (outcome?.kind === 'rejected')
            return { kind: 'failed', message: `the bus refused it: ${outcome.message}` };
          const code = outcome?.code ?? 'NoResult';
          throw new RetryableError(`publishing ${target.detailType} for hook ${call.name}: ${code}`, { reason: code });
        }
        case 'customResource':
          throw new Error('a custom resource is made at the API server, not called');
      }
    },
  };
}

function toPayload(
  { purpose, name, key, about, details }: HookCall,
  cluster: string,
): Readonly<Record<string, unknown>> {
  return { schemaVersion: 1, cluster, [purpose === 'hook' ? 'hook' : 'rule']: name, key, about, ...details };
}
