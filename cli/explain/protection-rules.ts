/** The rules that protect the pods of a pool: how annotations are read, and the longest that a protection lasts. */
import { parseProtectionBlock } from '../../shared/contract/protection-schema.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { ProtectionPolicy } from '../../shared/domain/protection.ts';
import { hasBlock } from '../../shared/policies/deciding-policy.ts';
import type { EffectiveProtection } from '../../shared/policies/protection-settings.ts';

/** The limits of `maxDuration`, as Go writes durations. */
export interface ProtectionLimits {
  /** Undefined: none. */
  readonly maxDuration: string | undefined;
  /** Limits of single namespaces, which replace `maxDuration` there. */
  readonly namespaces: Readonly<Record<string, string>>;
}

export interface ProtectionRules {
  readonly compatibility: ProtectionPolicy['compatibility'];
  readonly limits: ProtectionLimits;
}

/** The rules of a `protection` block, with durations as text. */
export const protectionRules = (policy: ProtectionPolicy): ProtectionRules => ({
  compatibility: policy.compatibility,
  limits: {
    maxDuration: policy.maxDuration && formatDuration(policy.maxDuration),
    namespaces: Object.fromEntries([...policy.maxDurations].map(([name, longest]) => [name, formatDuration(longest)])),
  },
});

/** The `protection` block of a policy itself, in force or not; undefined: it has none that can be read. */
export function statedProtection(policy: KubernetesObject): ProtectionRules | undefined {
  if (!hasBlock(policy, 'protection')) return undefined;
  const block = parseProtectionBlock(policy.spec?.['protection'], 'spec.protection');
  return block.ok ? protectionRules(block.value) : undefined;
}

/** Describes the rules in force, their source, and the policy that is only observed. */
export function protectionText({ policy, source, observed }: EffectiveProtection): string {
  return inForceText(source, protectionRules(policy), observed?.source);
}

/** Describes the rules in force from their parts. */
export function inForceText(source: string | undefined, rules: ProtectionRules, observed: string | undefined): string {
  const aside = observed === undefined ? '' : `; ${observed} is only observed and changes nothing`;
  return `${source ?? 'no policy, the defaults hold'} (${rulesText(rules)})${aside}`;
}

/** Without the name of whoever states them. */
export function rulesText({ compatibility, limits: { maxDuration, namespaces } }: ProtectionRules): string {
  if (compatibility === 'Unknown') return 'what either rule set protects is protected';
  const own = Object.entries(namespaces).map(([name, longest]) => `${longest} in namespace ${name}`);
  const longest = [...(maxDuration === undefined ? [] : [maxDuration]), ...own];
  return `compatibility ${compatibility}${longest.length === 0 ? '' : `, for at most ${longest.join(', ')}`}`;
}
