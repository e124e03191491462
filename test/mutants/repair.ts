/** Mistakes in the repair of nodes. */
import type { RepairObservation } from '../../functions/repair/decide.ts';
import { arrayAt, isObject, textAt } from '../../local/apiserver/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { resolveNodeCount } from '../../shared/domain/repair-policy.ts';
import {
  addDuration,
  minutes,
  parseTimestamp,
  seconds,
  toDurationMs,
  toTimestamp,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import {
  isA,
  methodsOf,
  withKubernetes,
  withoutErrors,
  withPorts,
  withPortsOfRun,
  withRecords,
  withRepairRule,
  withoutTimer,
  type Mutant,
} from './mutant.ts';

const OPEN_GATE = '[featureGates]\nnodeRepair = true\n';
const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';

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

/** Answers of the first time, for `forMs`. */
function remembering(api: KubernetesApi, now: () => EpochMs, forMs: number): Pick<KubernetesApi, 'get'> {
  const known = new Map<string, { readonly time: EpochMs; readonly object: KubernetesObject | undefined }>();
  return {
    async get(ref) {
      if (!isA('Node', ref)) return await api.get(ref);
      const seen = known.get(ref.name);
      if (seen !== undefined && now() - seen.time <= forMs) return seen.object;
      const object = await api.get(ref);
      known.set(ref.name, { time: now(), object });
      return object;
    },
  };
}

/** Every transition a second before it was. */
function withEarlierTransitions(node: KubernetesObject): KubernetesObject {
  const conditions = arrayAt(node.status ?? {}, 'conditions').map(condition => {
    const time = isObject(condition) ? parseTimestamp(textAt(condition, 'lastTransitionTime') ?? '') : undefined;
    if (!isObject(condition) || time === undefined) return condition;
    return { ...condition, lastTransitionTime: toTimestamp(addDuration(time, seconds(-1))) };
  });
  return { ...node, status: { ...node.status, conditions } };
}

export const REPAIR_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-without-second-look',
    mistake: 'does not look at the node again after it has recorded its intent',
    breaks: ['I3'],
    seed: 1,
    mutation: withPortsOfRun('repair', ({ kubernetes, clock }) => ({
      kubernetes: { ...methodsOf(kubernetes), ...remembering(kubernetes, () => clock.now(), Infinity) },
    })),
  },
  {
    name: 'repair-from-cache',
    mistake: 'looks at a copy of the node that is up to a minute old',
    breaks: ['I3', 'I5'],
    seed: 1,
    mutation: withPorts('repair', ({ kubernetes, clock }) => ({
      kubernetes: { ...methodsOf(kubernetes), ...remembering(kubernetes, () => clock.now(), minutes(1)) },
    })),
  },
  {
    name: 'repair-without-uid',
    mistake: 'deletes the NodeClaim of that name, whichever it is',
    breaks: ['I10'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      delete: (ref, options) => api.delete(ref, { ...options, preconditions: {} }),
    })),
  },
  {
    name: 'repair-a-second-early',
    mistake: 'counts the toleration from a second before the transition',
    breaks: ['I3'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      async get(ref) {
        const object = await api.get(ref);
        return object !== undefined && isA('Node', ref) ? withEarlierTransitions(object) : object;
      },
    })),
  },
  {
    name: 'repair-after-the-due-instant',
    mistake: 'compares with < instead of <=: at the due instant it is not due yet',
    breaks: ['I5', 'I8'],
    seed: 1,
    mutation: withRepairRule(rule => observation => rule(shifted(observation, -1))),
  },
  {
    name: 'repair-above-threshold',
    mistake: 'forgets the unhealthy threshold',
    breaks: ['I3'],
    seed: 1,
    mutation: withRepairRule(rule => observation => rule(withThreshold(observation, () => Infinity))),
  },
  {
    name: 'repair-threshold-rounds-down',
    mistake: 'rounds the threshold down instead of up',
    breaks: ['I5'],
    seed: 1,
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
    seed: 1,
    mutation: withRepairRule(
      rule => observation =>
        rule(withThreshold(observation, ({ maxUnhealthy }, nodes) => resolveNodeCount(maxUnhealthy, nodes) - 1)),
    ),
  },
  {
    name: 'repair-threshold-of-healthy-pool',
    mistake: 'counts the unhealthy nodes of the whole pool but its own',
    breaks: ['I3'],
    seed: 1,
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
    seed: 1,
    mutation: withRepairRule(rule => observation => rule({ ...observation, observeOnly: false })),
  },
  {
    name: 'repair-without-gate',
    mistake: 'does not ask whether the feature gate is on',
    breaks: ['I3'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      async get(ref) {
        const object = await api.get(ref);
        return object !== undefined && isA('ConfigMap', ref)
          ? { ...object, data: { 'config.toml': OPEN_GATE } }
          : object;
      },
    })),
  },
  {
    name: 'repair-without-timer',
    mistake: 'leaves the wake-up time out of the record: what is not sent at once is forgotten',
    breaks: ['I5'],
    seed: 1,
    mutation: withRecords('repair', records => ({
      put: (record, version) => records.put(withoutTimer(record), version),
    })),
  },
  {
    name: 'repair-without-intent',
    mistake: 'records what it did afterwards only',
    breaks: ['I3', 'I4'],
    seed: 1,
    mutation: withRecords('repair', records => ({
      async put(record, version) {
        const attempt = record.state['attempt'];
        const isIntent =
          typeof attempt === 'object' && attempt !== null && 'phase' in attempt && attempt.phase === 'intended';
        const current = isIntent ? await records.get(record) : undefined;
        return current === undefined ? await records.put(record, version) : { kind: 'written', record: current };
      },
    })),
  },
  {
    name: 'repair-repeats-the-unknown',
    mistake: 'deletes again when the answer to the first delete was lost',
    breaks: ['I4'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      async delete(ref, options) {
        try {
          return await api.delete(ref, options);
        } catch (error) {
          if (error instanceof RetryableError && error.outcomeUnknown) return await api.delete(ref, options);
          throw error;
        }
      },
    })),
  },
  {
    name: 'repair-takes-errors-for-nothing',
    mistake: 'takes an error of the API server for an empty list',
    breaks: ['I5', 'I6'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      list: (type, query) => api.list(type, query).catch(() => []),
    })),
  },
  {
    name: 'repair-takes-errors-for-absence',
    mistake: 'takes an error of the API server for an object that is gone',
    breaks: ['I5', 'I6'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({ get: ref => api.get(ref).catch(() => undefined) })),
  },
  {
    name: 'repair-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    seed: 1,
    mutation: withoutErrors('repair'),
  },
  {
    name: 'repair-keeps-its-annotation',
    mistake: 'does not take its annotation back when a repair is called off',
    breaks: ['I7'],
    seed: 1,
    mutation: withKubernetes('repair', api => ({
      async patch(ref, patch, options) {
        const isWithdrawal =
          patch.type === 'merge' && JSON.stringify(patch.body).includes(`"${TERMINATION_TIMESTAMP}":null`);
        const object = isWithdrawal ? await api.get(ref) : undefined;
        return object === undefined ? await api.patch(ref, patch, options) : { kind: 'ok', object };
      },
    })),
  },
  {
    name: 'repair-forgets-its-timestamp',
    mistake: 'does not know the annotation of its attempt before the last as its own',
    breaks: ['I7'],
    seed: 1,
    mutation: withRepairRule(rule => observation => {
      const decision = rule(observation);
      if (decision.kind !== 'repair' || observation.ownsAttempt) return decision;
      return { ...decision, attempt: { ...decision.attempt, terminationTimestamp: toTimestamp(observation.now) } };
    }),
  },
];
