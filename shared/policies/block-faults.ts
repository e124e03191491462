/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, that a block of it cannot be used or loses a conflict (I8). */
import { EVENT_REASONS } from '../contract/reasons.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { reportWarning } from '../lifecycle/refusals.ts';
import type { Reporter } from '../lifecycle/reporter.ts';
import { conflictsOf, type ConflictBlock } from './policy-conflicts.ts';
import type { PolicySet } from './policy-set.ts';

export interface BlockFault {
  readonly block: ConflictBlock;
  /** The fault; undefined: there is none. */
  readonly fault: string | undefined;
  /** The reason of the Event that says so. */
  readonly reason: string;
  /** The settings that apply until it can be read. */
  readonly effect: string;
  /** The object is only published again: the Events alone are recorded once more. */
  readonly isRepeated: boolean;
}

/** Reports what is wrong with this block of a live object. @param set undefined: conflicts are not looked for */
export async function reportBlockFault(
  reporter: Reporter,
  object: KubernetesObject,
  set: PolicySet | undefined,
  { block, fault, reason, effect, isRepeated }: BlockFault,
): Promise<void> {
  const refuse = (about: KubernetesObject, why: string, message: string): Promise<void> =>
    reportWarning(reporter, about, why, 'refuse')(message, isRepeated);
  if (fault !== undefined) await refuse(object, reason, `${fault}; ${effect}`);
  const conflicts = set === undefined || object.spec?.[block] === undefined ? [] : conflictsOf(object, block, set);
  for (const { loser, message } of conflicts) await refuse(loser, EVENT_REASONS.policyConflict, message);
}
