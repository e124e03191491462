/**
 * Whether hooks are called in a termination, and whether anything waits for them. Under the deadline nothing does; while Karpenter's
 * finalizer is on the NodeClaim, Karpenter drains and ends the instance by itself, so only what comes after that can hold anything.
 */
import { isGone } from '../cluster/instances.ts';
import type { HookPoint } from '../../../shared/domain/termination.ts';
import { orRefused } from '../../../shared/lifecycle/refusals.ts';
import { KARPENTER_FINALIZER } from './decide.ts';
import { lookAtInstance } from './instance.ts';
import type { TerminationContext } from './context.ts';

/**
 * `awaited`: called in order, each within its own deadline; `once`: called once, and nothing waits for it; `forced`: the same at the
 * deadline; `never`: no instance ends with this termination, and nothing is called.
 */
export type HookMode =
  { readonly kind: 'awaited' | 'once' | 'forced' } | { readonly kind: 'never'; readonly because: string };

/** How the hooks of one point stand now. Looks at the instance where no NodeClaim ends it. */
export async function hookModeOf(context: TerminationContext, point: HookPoint): Promise<HookMode> {
  const because = await whyNoInstanceEnds(context);
  if (because !== undefined) return { kind: 'never', because };
  if (context.isForced) return { kind: 'forced' };
  const isKarpenters = context.observed.claim?.metadata.finalizers?.includes(KARPENTER_FINALIZER) === true;
  return { kind: isKarpenters && point !== 'after-terminate' ? 'once' : 'awaited' };
}

/** Why no instance ends here; undefined: one does. A Node that no NodeClaim stands for ends none, but goes after one that has ended. */
async function whyNoInstanceEnds(context: TerminationContext): Promise<string | undefined> {
  const { claim, providerID, sharedWith } = context.observed;
  if (providerID === undefined) return 'there never was an instance';
  if (sharedWith.length > 0) return `instance ${providerID} stays: NodeClaim ${sharedWith.join(', ')} has it`;
  if (claim !== undefined) return undefined;
  const state = await orRefused(lookAtInstance(context, providerID));
  const isEnding = typeof state !== 'object' && (isGone(state) || state === 'shutting-down');
  return isEnding ? undefined : `instance ${providerID} stays: no NodeClaim has it, and nobody ends it`;
}
