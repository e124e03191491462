/** Tells the author of a NodeLifecyclePolicy, on that object, that a block of it cannot be used or loses a tie (I8). */
import { parsePolicyFrame, type Parsed } from '../contract/policy-schema.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import type { Reporter } from '../lifecycle/reporter.ts';
import { tiesOf, type TIED_BLOCKS } from './policy-ties.ts';
import type { PolicySet } from './policy-set.ts';

export interface ReadBlock {
  readonly name: (typeof TIED_BLOCKS)[number];
  readonly parse: (block: unknown, path: string) => Parsed<unknown>;
  /** The reason of the Event when frame or block cannot be read. */
  readonly reason: string;
  /** What holds until it can be read. */
  readonly effect: string;
  /** The policy is only published again: the Event alone is recorded once more. */
  readonly isRepeated: boolean;
}

/**
 * Reports what is wrong with this block of a live policy: Warning Event and audit line. A policy without the block is passed over.
 */
export async function reportBlockFaults(
  reporter: Reporter,
  object: KubernetesObject,
  set: PolicySet,
  { name, parse, reason, effect, isRepeated }: ReadBlock,
): Promise<void> {
  const block = object.spec?.[name];
  if (block === undefined) return;
  const report = (about: KubernetesObject, why: string, message: string): Promise<void> =>
    reporter.report({ about, decision: 'refuse', reason: why, message, isRepeated, event: { type: 'Warning' } });
  const faults = [parsePolicyFrame(object.spec), parse(block, `spec.${name}`)].flatMap(read =>
    read.ok ? [] : [read.message],
  );
  if (faults.length > 0) await report(object, reason, `${faults.join('; ')}; ${effect}`);
  for (const { loser, message } of tiesOf(object, name, set))
    await report(loser, EVENT_REASONS.policyConflict, message);
}
