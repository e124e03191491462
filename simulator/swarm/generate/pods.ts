/** Pods with do-not-disrupt annotations of every class, and budgets. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, seconds, toDurationMs, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import type { Manifest } from '../../scenario/scenario.ts';
import { pickWeighted, wholeSecond } from './draw.ts';
import { toManifest, type Model, type PodPlan } from './model.ts';
import { durationOf } from './settings.ts';

export const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const NAMESPACES = ['default', 'prod', 'batch'] as const;
const LIMITS = [
  '1s',
  '30s',
  '5m',
  '20m',
  '1h',
  '1h30m',
  '4h',
  '90.5s',
  '1m0.5s',
  '+10m',
  '1500ms',
  '2562047h',
] as const;
const GARBAGE = [
  'false', '', '4d', '0s', '0', '-1h', '1 h', 'TRUE', 'tomorrow', '1h30', 'ns', '9223372036854775808ns', '1.5', '∞', '5m\n',
] as const; // prettier-ignore

/** Remembers each time limit in the model. */
export function drawAnnotation(random: Random, model: Model): string {
  return pickWeighted<() => string>(random, [
    [2, () => 'true'],
    [2, () => random.pick(GARBAGE)],
    [
      6,
      () => {
        const limit = random.pick(LIMITS);
        model.durations.push(durationOf(limit));
        return limit;
      },
    ],
  ])();
}

export function drawPod(random: Random, model: Model, time: EpochMs): PodPlan {
  const age = random.chance(0.5) ? random.integer(0, hours(2)) : random.integer(0, seconds(20));
  return {
    namespace: random.pick(NAMESPACES),
    name: `p${(model.counter += 1)}`,
    node: random.pick(model.nodes).name,
    creationTime: wholeSecond(addDuration(time, toDurationMs(0 - age))),
    lingers: random.chance(0.05),
    waits: random.chance(0.03),
  };
}

export function podManifest(random: Random, model: Model, pod: PodPlan): Manifest {
  const annotations: JsonObject = {
    ...(random.chance(0.75) && { [DO_NOT_DISRUPT]: drawAnnotation(random, model) }),
    ...(random.chance(0.2) && { 'sim.curfew.dev/stops-after': random.pick(['5s', '2m', 'never', 'soon']) }),
  };
  const startTime = addDuration(pod.creationTime, seconds(random.integer(0, 90)));
  return toManifest(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: pod.namespace,
        name: pod.name,
        labels: { app: random.pick(['web', 'job', 'db']) },
        creationTimestamp: toTimestamp(pod.creationTime),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(pod.lingers && { finalizers: ['example.com/hold'] }),
      },
      spec: {
        ...(!pod.waits && { nodeName: pod.node }),
        ...(random.chance(0.3) && { terminationGracePeriodSeconds: random.pick([0, 1, 10, 300]) }),
      },
      status: {
        phase: pickWeighted(random, [
          [12, 'Running'],
          [2, 'Pending'],
          [1, 'Succeeded'],
          [1, 'Failed'],
        ]),
        ...(random.chance(0.8) && { startTime: toTimestamp(startTime) }),
      },
    },
    pod.name,
    pod.namespace,
  );
}

export function budgetManifest(random: Random, name: string): Manifest {
  const namespace = random.pick(NAMESPACES);
  const limit = random.pick([
    { maxUnavailable: 0 },
    { maxUnavailable: 1 },
    { minAvailable: 1 },
    { minAvailable: '50%' },
  ]);
  return toManifest(
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name },
      spec: { ...limit, selector: { matchLabels: { app: random.pick(['web', 'job', 'db']) } } },
    },
    name,
    namespace,
  );
}
