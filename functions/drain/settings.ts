/** Settings of a drain: the patterns of the configuration, compiled, and the `drain` block of the policy in force for its pool. */
import { parseDrainLimits } from '../../shared/contract/drain-limits-schema.ts';
import { compileRegularExpression } from '../../shared/contract/regular-expression.ts';
import { NO_DRAIN_LIMITS, type DrainLimitsInForce } from '../../shared/domain/drain-limits.ts';
import { DRAIN_MODES, type DrainSettings } from '../../shared/domain/drain-settings.ts';
import { matchesFilePattern, parseFilePattern, type FilePattern } from '../../shared/domain/file-match.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { parseLabelSelector, selectsLabels, type LabelRequirement } from '../../shared/domain/label-selector-text.ts';
import { minutes } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { enforcedPolicyFor, hasBlock, type BlockReader } from '../../shared/policies/deciding-policy.ts';
import { unreadablePoliciesFor, type PolicySet } from '../../shared/policies/policy-set.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { DrainConfiguration } from './rule/observation.ts';

/** Compiles settings that the configuration's schema has accepted. */
export function compileSettings(settings: DrainSettings): Omit<DrainConfiguration, 'settings'> {
  const { systemNamespaces, namespaceModes, podDrainPolicies, customDrain } = settings;
  const system = systemNamespaces === '' ? undefined : compileRegularExpression(systemNamespaces);
  invariant(system?.ok !== false, `the configuration's schema accepts no expression like ${systemNamespaces}`);
  const patterns = namespaceModes.map(({ name, mode }) => ({ pattern: pattern(name), mode }));
  const policies = podDrainPolicies.map(({ namespace, podSelector, mode }) => ({
    pattern: pattern(namespace),
    selector: selector(podSelector),
    mode,
  }));
  const customNodes = customDrain === undefined ? undefined : selector(customDrain.nodeSelector);
  return {
    modeOf({ namespace, labels }) {
      if (system?.occursIn(namespace) === true) return 'system';
      const policy = policies.find(
        each => matchesFilePattern(each.pattern, namespace) && selectsLabels(each.selector, labels),
      );
      if (policy !== undefined) return policy.mode;
      const modes = patterns.filter(each => matchesFilePattern(each.pattern, namespace)).map(({ mode }) => mode);
      // Whatever their order: of several patterns the most forceful mode applies, as in NVSentinel.
      return DRAIN_MODES.find(mode => modes.includes(mode));
    },
    isCustom: nodeLabels => customNodes !== undefined && selectsLabels(customNodes, nodeLabels),
  };
}

/** The settings where nobody configures drains: every pod that can be drained is evicted at once. */
export const ALL_PODS: DrainConfiguration = {
  settings: {
    systemNamespaces: '',
    evictionGracePeriod: undefined,
    deleteAfterTimeout: minutes(0),
    notReadyTimeout: minutes(5),
    gpuPodsOnly: false,
    partialDrain: false,
    partialDrainEntityMetric: false,
    namespaceModes: [],
    podDrainPolicies: [],
    customDrain: undefined,
  },
  modeOf: () => 'Immediate',
  isCustom: () => false,
};

function pattern(text: string): FilePattern {
  const parsed = parseFilePattern(text);
  invariant(parsed !== undefined, `the configuration's schema accepts no pattern like ${text}`);
  return parsed;
}

function selector(text: string): readonly LabelRequirement[] {
  const parsed = parseLabelSelector(text);
  invariant(parsed.ok, `the configuration's schema accepts no selector like ${text}`);
  return parsed.requirements;
}

/** Reader of a `drain` block. */
export const DRAIN: BlockReader = { block: 'drain', parse: parseDrainLimits };
/** Blocks of a policy that a drain reads. */
export const DRAIN_BLOCKS = [DRAIN, PROTECTION] as const;

/** The limits of the pool's drains: of the policies that apply in mode Enforce, those of the most specific one, ties by name. */
export function drainLimitsFor(pool: KubernetesObject | undefined, set: PolicySet): DrainLimitsInForce {
  // One that selects the pool, or may, and does not say how many drains it allows, comes before what another one allows.
  const unsure = set.faults.filter(({ selector }) => selector === undefined);
  const unreadable = [...unreadablePoliciesFor(pool, set), ...unsure].find(({ object }) => hasBlock(object, 'drain'));
  if (unreadable !== undefined) return cannotBeRead(unreadable.object, unreadable.message);
  const policy = enforcedPolicyFor(pool, 'drain', set);
  if (policy === undefined) return NO_DRAIN_LIMITS;
  const block = parseDrainLimits(policy.object.spec?.['drain'], 'spec.drain');
  return block.ok ? { kind: 'known', ...block.value } : cannotBeRead(policy.object, block.message);
}

const cannotBeRead = ({ metadata }: KubernetesObject, message: string): DrainLimitsInForce => ({
  kind: 'unreadable',
  message: `NodeLifecyclePolicy ${metadata.name} cannot be read: ${message}`,
});
