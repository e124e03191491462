import type { HookProgress, HookProgressIn } from '../../functions/finalizer/termination/record.ts';
import type { TerminationHook } from '../../shared/domain/termination.ts';
import { minutes } from '../../shared/domain/time.ts';
import { at } from './repair.ts';

export const HOOK_TIME = at('2024-11-01T15:00:00Z');

/** A hook before the drain that calls a Lambda function. */
export const hookNamed = (name: string, fields: Partial<TerminationHook> = {}): TerminationHook => ({
  name,
  at: 'before-drain',
  target: { kind: 'lambda', functionName: 'f' },
  deadline: minutes(10),
  heartbeat: undefined,
  onTimeout: 'Proceed',
  ...fields,
});

/** Its first call, at `HOOK_TIME`. One that failed said nothing. */
export const hookProgress = <Phase extends HookProgress['phase']>(
  phase: Phase,
  more: Partial<Omit<HookProgressIn<Phase>, 'phase'>> = {},
): HookProgressIn<Phase> => {
  const called = { firstInvokedTime: HOOK_TIME, lastSeenTime: HOOK_TIME, attempts: 1 };
  return { phase, ...called, ...(phase === 'failed' && { message: '' }), ...more } as HookProgressIn<Phase>;
};
