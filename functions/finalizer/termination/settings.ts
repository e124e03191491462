/**
 * Termination settings in force for a pool. Field by field, the NodePool's own settings win over the `termination` block of a
 * NodeLifecyclePolicy. Of several policies the most specific one counts, ties by name. The mode is that of the policy that decides about
 * terminations. Pure.
 */
import type { Mode } from '../../../shared/contract/policy-schema.ts';
import {
  parsePoolTermination,
  parseTerminationBlock,
  type TerminationBlock,
} from '../../../shared/contract/termination-schema.ts';
import { kindAndName, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import {
  isSetBy,
  type Deadline,
  type GracePeriod,
  type TerminationSettings,
} from '../../../shared/domain/termination.ts';
import {
  decisionFor,
  faultIn,
  hasBlock,
  unknownSettingsFault,
  type BlockReader,
} from '../../../shared/policies/deciding-policy.ts';
import type { PolicySet } from '../../../shared/policies/policy-set.ts';

/** Reader of a `termination` block. */
export const TERMINATION_BLOCK: BlockReader = { block: 'termination', parse: parseTerminationBlock };

export type EffectiveTermination = TerminationInForce & {
  readonly mode: Mode;
  /** The brake alone makes it `Observe`: a termination that has begun goes on. */
  readonly isBraked: boolean;
};

type TerminationInForce =
  /** No block applies: hands off. */
  | { readonly kind: 'none' }
  /** A block applies that cannot be read: nothing is put on or taken off until it can be (I6). */
  | {
      readonly kind: 'invalid';
      readonly message: string;
      readonly source: string;
      /** The NodePool's own grace period, which comes before a policy that cannot be read. Undefined: it has none, or it cannot be read. */
      readonly gracePeriod: GracePeriod | undefined;
    }
  | { readonly kind: 'custom'; readonly settings: TerminationSettings; readonly source: string };

/** The settings for the NodeClaims and Nodes of a pool; `undefined` stands for those without a NodePool. */
export function effectiveTermination(pool: KubernetesObject | undefined, policySet: PolicySet): EffectiveTermination {
  const { mode, isBraked, policy } = decisionFor(pool, 'termination', policySet);
  return { ...inForce(pool, policySet, policy?.object), mode, isBraked };
}

function inForce(
  pool: KubernetesObject | undefined,
  policySet: PolicySet,
  policy: KubernetesObject | undefined,
): TerminationInForce {
  const ofPool = parsePoolTermination(pool?.spec?.['disruption'], 'spec.disruption');
  if (pool !== undefined && !ofPool.ok) return invalid(pool, ofPool.message, undefined);
  const fromPool = ofPool.ok ? ofPool.value : undefined;

  const unknown = unknownSettingsFault(pool, 'termination', policySet);
  const ofPoolItself = gracePeriodOf(pool, fromPool?.terminationGracePeriod, undefined, undefined);
  if (unknown !== undefined) return invalid(unknown.object, unknown.message, ofPoolItself);
  const block = policy && parseTerminationBlock(policy.spec?.['termination'], 'spec.termination');
  if (policy !== undefined && block?.ok === false) return invalid(policy, block.message, ofPoolItself);
  const fromPolicy = block?.ok === true ? block.value : undefined;

  const named = fromPool?.customFinalizerName;
  if (named === undefined && fromPolicy === undefined) return { kind: 'none' };
  const base: TerminationBlock = fromPolicy ?? DEFAULT_BLOCK;
  const sourceOfName = pool !== undefined && named !== undefined ? pool : policy;
  return {
    kind: 'custom',
    source: sourceOfName === undefined ? '' : kindAndName(sourceOfName),
    settings: {
      finalizerName: named ?? base.finalizerName,
      scope: base.scope,
      builtin: base.builtin,
      hooks: base.hooks,
      gracePeriod: gracePeriodOf(pool, fromPool?.terminationGracePeriod, policy, fromPolicy?.terminationGracePeriod),
    },
  };
}

/** A NodePool that names a finalizer turns terminations on by itself, with the defaults of a block. */
const DEFAULT_BLOCK: TerminationBlock = {
  finalizerName: '',
  scope: 'NodeClaimAndNode',
  builtin: 'Keep',
  hooks: [],
  terminationGracePeriod: undefined,
};

function gracePeriodOf(
  pool: KubernetesObject | undefined,
  ofPool: TerminationBlock['terminationGracePeriod'],
  policy: KubernetesObject | undefined,
  ofPolicy: TerminationBlock['terminationGracePeriod'],
): TerminationSettings['gracePeriod'] {
  if (pool !== undefined && ofPool !== undefined) return gracePeriodSetBy(pool, ofPool);
  return policy === undefined || ofPolicy === undefined ? undefined : gracePeriodSetBy(policy, ofPolicy);
}

const gracePeriodSetBy = (object: KubernetesObject, period: GracePeriod['period']): GracePeriod => ({
  period,
  source: kindAndName(object),
  sourceUid: object.metadata.uid,
});

/**
 * Whether the NodePool or policy that set a deadline is there, can be read, and sets none any more: somebody edited it. One that went, or
 * that an edit broke, takes nothing back.
 */
export function takesBackDeadline(
  deadline: Deadline,
  pool: KubernetesObject | undefined,
  { policies }: PolicySet,
): boolean {
  const isIts = (object: KubernetesObject): boolean => isSetBy(deadline, kindAndName(object), object.metadata.uid);
  if (pool !== undefined && isIts(pool)) {
    const ofPool = parsePoolTermination(pool.spec?.['disruption'], 'spec.disruption');
    return ofPool.ok && ofPool.value.terminationGracePeriod === undefined;
  }
  const policy = policies.find(({ object }) => isIts(object))?.object;
  if (policy === undefined) return false;
  const block = policy.spec?.['termination'];
  if (block === undefined) return true;
  const parsed = parseTerminationBlock(block, 'spec.termination');
  return parsed.ok && parsed.value.terminationGracePeriod === undefined;
}

const invalid = (
  object: KubernetesObject,
  message: string,
  gracePeriod: GracePeriod | undefined,
): TerminationInForce => ({
  kind: 'invalid',
  gracePeriod,
  message: `${kindAndName(object)}: ${message}`,
  source: kindAndName(object),
});

/** The fault in the termination settings of one NodePool or policy, for its author; undefined: there is none. */
export function terminationFault({ kind, spec = {} }: KubernetesObject): string | undefined {
  if (kind !== 'NodePool')
    return hasBlock({ spec }, 'termination') ? faultIn({ spec }, [TERMINATION_BLOCK]) : undefined;
  const result = parsePoolTermination(spec['disruption'], 'spec.disruption');
  return result.ok ? undefined : result.message;
}
