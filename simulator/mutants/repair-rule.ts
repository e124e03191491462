/** Mistakes in when a node is repaired. */
import type { RepairObservation } from '../../functions/repair/decide.ts';
import { arrayAt, isObject, textAt } from '../../packages/kube-apiserver/src/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { resolveNodeCount } from '../../shared/domain/repair-policy.ts';
import { addDuration, parseTimestamp, seconds, toDurationMs, toTimestamp } from '../../shared/domain/time.ts';
import { withObjects, withRepairRule, type Mutant } from './mutant.ts';

const OPEN_GATE = '[featureGates]\nnodeRepair = true\n';

type Surroundings = NonNullable<RepairObservation['surroundings']>;
type Settings = Exclude<RepairObservation['settings'], undefined | { readonly invalid: string }>;

function withSurroundings(
  observation: RepairObservation,
  change: (surroundings: Surroundings) => Surroundings,
): RepairObservation {
  const { surroundings } = observation;
  return surroundings === undefined ? observation : { ...observation, surroundings: change(surroundings) };
}

function withSettings(observation: RepairObservation, change: (settings: Settings) => Settings): RepairObservation {
  const { settings } = observation;
  return settings === undefined || 'invalid' in settings ? observation : { ...observation, settings: change(settings) };
}

/** The threshold with another count in its place. */
const withThreshold = (
  observation: RepairObservation,
  count: (settings: Settings, nodes: number) => number,
): RepairObservation =>
  withSettings(observation, settings => ({
    ...settings,
    maxUnhealthy: { count: count(settings, observation.surroundings?.poolNodes.length ?? 0) },
  }));

/** The rule told that it is another time. */
const shifted = (observation: RepairObservation, byMs: number): RepairObservation => ({
  ...observation,
  now: addDuration(observation.now, toDurationMs(byMs)),
});

/** Every transition a second before it was. */
function withEarlierTransitions(node: KubernetesObject): KubernetesObject {
  const conditions = arrayAt(node.status ?? {}, 'conditions').map(condition => {
    const time = isObject(condition) ? parseTimestamp(textAt(condition, 'lastTransitionTime') ?? '') : undefined;
    if (!isObject(condition) || time === undefined) return condition;
    return { ...condition, lastTransitionTime: toTimestamp(addDuration(time, seconds(-1))) };
  });
  return { ...node, status: { ...node.status, conditions } };
}

export const REPAIR_RULE_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-a-second-early',
    mistake: 'counts the toleration from a second before the transition',
    breaks: ['I3'],
    seed: 7,
    mutation: withObjects('repair', 'Node', withEarlierTransitions),
  },
  {
    name: 'repair-after-the-due-instant',
    mistake: 'compares with < instead of <=: at the due instant it is not due yet',
    breaks: ['I5', 'I8'],
    seed: 7,
    mutation: withRepairRule(rule => observation => rule(shifted(observation, -1))),
  },
  {
    name: 'repair-above-threshold',
    mistake: 'forgets the unhealthy threshold',
    breaks: ['I3'],
    seed: 3,
    mutation: withRepairRule(rule => observation => rule(withThreshold(observation, () => Infinity))),
  },
  {
    name: 'repair-threshold-rounds-down',
    mistake: 'rounds the threshold down instead of up',
    breaks: ['I5'],
    seed: 7,
    mutation: withRepairRule(
      rule => observation =>
        rule(
          withThreshold(observation, ({ maxUnhealthy }, nodes) =>
            'count' in maxUnhealthy ? maxUnhealthy.count : Math.floor((maxUnhealthy.percent * nodes) / 100),
          ),
        ),
    ),
  },
  {
    name: 'repair-threshold-exclusive',
    mistake: 'stops at the threshold instead of above it',
    breaks: ['I5'],
    seed: 7,
    mutation: withRepairRule(
      rule => observation =>
        rule(withThreshold(observation, ({ maxUnhealthy }, nodes) => resolveNodeCount(maxUnhealthy, nodes) - 1)),
    ),
  },
  {
    name: 'repair-threshold-of-healthy-pool',
    mistake: 'counts the unhealthy nodes of the whole pool but its own',
    breaks: ['I3'],
    seed: 3,
    mutation: withRepairRule(
      rule => observation =>
        rule(
          withSurroundings(observation, surroundings => ({
            ...surroundings,
            poolNodes: surroundings.poolNodes.map(node =>
              node.uid === observation.node.uid ? { ...node, conditions: [] } : node,
            ),
          })),
        ),
    ),
  },
  {
    name: 'repair-in-observe-mode',
    mistake: 'acts in a pool whose mode is Observe',
    breaks: ['I3'],
    seed: 2,
    mutation: withRepairRule(rule => observation => rule({ ...observation, observeOnly: false })),
  },
  {
    name: 'repair-without-gate',
    mistake: 'does not ask whether the feature gate is on',
    breaks: ['I3'],
    seed: 26,
    mutation: withObjects('repair', 'ConfigMap', object => ({ ...object, data: { 'config.toml': OPEN_GATE } })),
  },
];
