/** The patterns of the configuration, compiled: which mode a pod is drained with, and which nodes have a custom drain. */
import { compileRegularExpression } from '../../shared/contract/regular-expression.ts';
import { DRAIN_MODES, type DrainMode, type DrainSettings } from '../../shared/domain/drain-settings.ts';
import { matchesFilePattern, parseFilePattern, type FilePattern } from '../../shared/domain/file-match.ts';
import { parseLabelSelector, selectsLabels, type LabelRequirement } from '../../shared/domain/label-selector-text.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { invariant } from '../../shared/errors.ts';

export interface CompiledSettings {
  /** The mode for a pod; undefined: no rule matches it. `system`: its namespace is never drained. */
  readonly modeOf: (pod: Pick<PodView, 'namespace' | 'labels'>) => DrainMode | 'system' | undefined;
  /** Whether the custom drain is there for a node with these labels. */
  readonly isCustom: (nodeLabels: Readonly<Record<string, string>>) => boolean;
}

/** Compiles settings that the configuration's schema has accepted. */
export function compileSettings(settings: DrainSettings): CompiledSettings {
  const { systemNamespaces, namespaceRules, podDrainPolicies, customDrain } = settings;
  const system = systemNamespaces === '' ? undefined : compileRegularExpression(systemNamespaces);
  invariant(system?.ok !== false, `the configuration's schema accepts no expression like ${systemNamespaces}`);
  const rules = namespaceRules.map(({ name, mode }) => ({ pattern: pattern(name), mode }));
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
      const modes = rules.filter(rule => matchesFilePattern(rule.pattern, namespace)).map(({ mode }) => mode);
      // Whatever their order: of several patterns the most forceful mode holds, as in NVSentinel.
      return DRAIN_MODES.find(mode => modes.includes(mode));
    },
    isCustom: nodeLabels => customNodes !== undefined && selectsLabels(customNodes, nodeLabels),
  };
}

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
