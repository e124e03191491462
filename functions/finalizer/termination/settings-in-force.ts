/**
 * Which settings a termination goes by: those in force now. If NodePool and policy have gone since, or cannot be read, those that were in
 * force last count: the clean-up that a finalizer stands for does not go with its policy (I1). Pure.
 */
import type { TerminationRecord, KeptSettings } from './record.ts';
import type { EffectiveTermination } from './settings.ts';

/** @param stored of the termination under way */
export function settingsInForce(
  termination: EffectiveTermination,
  stored: Pick<TerminationRecord, 'settings' | 'hooks'> | undefined,
): KeptSettings | undefined {
  if (termination.kind === 'custom') {
    const { finalizerName, scope, hooks } = termination.settings;
    return { finalizerName, scope, hooks };
  }
  const kept = stored?.settings;
  if (kept === undefined || termination.kind === 'invalid') return kept;
  // A hook that holds its termination waits for a person: one has taken its policy away.
  const isHolding = (name: string): boolean =>
    Object.hasOwn(stored?.hooks ?? {}, name) && stored?.hooks[name]?.phase === 'timedOut';
  return { ...kept, hooks: kept.hooks.filter(({ name }) => !isHolding(name)) };
}
