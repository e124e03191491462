import type { HookProgress } from '../../functions/finalizer/termination/record.ts';
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

/** Its first call, at `HOOK_TIME`. */
export const hookProgress = (phase: HookProgress['phase'], more: Partial<HookProgress> = {}): HookProgress => ({
  phase,
  firstInvokedTime: HOOK_TIME,
  lastSeenTime: HOOK_TIME,
  attempts: 1,
  ...more,
});
