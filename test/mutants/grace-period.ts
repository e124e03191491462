/** Mistakes in the protection of pods. */
import { decide } from '../../functions/grace-period/decide.ts';
import { createReconciler } from '../../functions/grace-period/route.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, parseTimestamp, seconds, toTimestamp, type DurationMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { firstListsFail, firstWriteFails } from './fault.ts';
import {
  annotated,
  takenForNone,
  withKubernetes,
  withListed,
  withObjects,
  withoutErrors,
  withoutFirstRecord,
  withoutRemovalOf,
  withRecords,
  withoutTimer,
  type Mutant,
} from './mutant.ts';

const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const MARK = 'curfew.dev/protected-until';

/** The pod as if it had been created and started at another time. */
function moved(pod: KubernetesObject, by: DurationMs): KubernetesObject {
  const move = (time: unknown): string | undefined => {
    const instant = typeof time === 'string' ? parseTimestamp(time) : undefined;
    return instant === undefined ? undefined : toTimestamp(addDuration(instant, by));
  };
  const creationTimestamp = move(pod.metadata.creationTimestamp) ?? pod.metadata.creationTimestamp;
  const startTime = move(pod.status?.['startTime']);
  return {
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp },
    status: { ...pod.status, ...(startTime !== undefined && { startTime }) },
  };
}

const withMovedPods = (by: DurationMs): Mutation => withListed('grace-period', 'Pod', pod => moved(pod, by));

/** The function shown another Node than there is. */
const withNodes = (change: (node: KubernetesObject) => KubernetesObject): Mutation =>
  withObjects('grace-period', 'Node', change);

/** The function with another rule. */
const deciding = (rule: typeof decide): Mutation => ({
  reconcilers: { 'grace-period': deps => createReconciler(deps, { decide: rule }) },
});

export const GRACE_PERIOD_MUTANTS: readonly Mutant[] = [
  {
    name: 'protection-ends-early',
    mistake: 'lets a protection end a second early',
    breaks: ['I2'],
    scenario: 'do-not-disrupt-in-seconds.yaml#do-not-disrupt-in-seconds',
    mutation: withMovedPods(seconds(-1)),
  },
  {
    name: 'protection-never-ends',
    mistake: 'lets no protection end before an hour has passed',
    breaks: ['I5'],
    seed: 4,
    mutation: withMovedPods(seconds(3600)),
  },
  {
    name: 'protection-keeps-the-node',
    mistake: 'does not take the annotation off the node when the last protection ends',
    breaks: ['I5', 'I9'],
    seed: 4,
    mutation: withoutRemovalOf('grace-period', DO_NOT_DISRUPT),
  },
  {
    name: 'protection-takes-foreign-annotation',
    mistake: 'takes every do-not-disrupt annotation on a node for its own',
    breaks: ['I7'],
    seed: 1,
    mutation: withNodes(node => {
      const { [DO_NOT_DISRUPT]: value, [MARK]: mark = 'indefinite' } = node.metadata.annotations ?? {};
      return value === 'true' ? annotated(node, { [MARK]: mark }) : node;
    }),
  },
  {
    name: 'protection-overwrites-annotation',
    mistake: 'holds the node whatever annotation stands there',
    breaks: ['I7'],
    scenario: 'do-not-disrupt-edges.yaml#do-not-disrupt-foreign-annotation',
    mutation: deciding(seen => {
      const { doNotDisrupt } = seen.node;
      return decide({ ...seen, node: { ...seen.node, doNotDisrupt: doNotDisrupt === 'true' ? 'true' : undefined } });
    }),
  },
  {
    name: 'protection-takes-errors-for-no-pods',
    mistake: 'takes an error of the API server for a node without pods',
    breaks: ['I5', 'I6'],
    scenario: 'do-not-disrupt-clock.yaml#do-not-disrupt-clock-of-the-design',
    fault: () => firstListsFail('grace-period', 'Pod'),
    mutation: withKubernetes('grace-period', api => ({
      list: (type, query, options) => api.list(type, query, options).catch(takenForNone),
    })),
  },
  {
    name: 'protection-without-precondition',
    mistake: 'patches the node of that name, whichever it is by now',
    breaks: ['I10'],
    seed: 4,
    mutation: withKubernetes('grace-period', api => ({
      patch(ref, patch, options) {
        if (patch.type !== 'merge') return api.patch(ref, patch, options);
        const metadata = patch.body['metadata'];
        const annotations =
          typeof metadata === 'object' && metadata !== null && 'annotations' in metadata ? metadata.annotations : {};
        return api.patch(ref, { type: 'merge', body: { metadata: { annotations } } }, options);
      },
    })),
  },
  {
    name: 'protection-without-timer',
    mistake: 'leaves the wake-up time out of the record: what is not sent at once is forgotten',
    breaks: ['I5'],
    scenario: 'do-not-disrupt-edges.yaml#do-not-disrupt-renewal-and-early-end',
    mutation: withRecords('grace-period', records => ({
      put: (record, version) => records.put(withoutTimer(record), version),
    })),
  },
  {
    name: 'protection-forgets-what-is-not-served',
    mistake: 'remembers nothing of a node that could not be judged while the policies were not served',
    breaks: ['I5'],
    scenario: 'kinds-not-served.yaml#protection-begun-while-policies-are-not-served',
    mutation: withoutFirstRecord('grace-period'),
  },
  {
    name: 'protection-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    scenario: 'do-not-disrupt-clock.yaml#do-not-disrupt-clock-of-the-design',
    fault: () => firstWriteFails('grace-period', () => true),
    mutation: withoutErrors('grace-period'),
  },
  {
    name: 'protection-counts-finished-pods',
    mistake: 'holds a node for pods that have ended',
    breaks: ['I5'],
    seed: 98,
    mutation: withListed('grace-period', 'Pod', pod => ({ ...pod, status: { ...pod.status, phase: 'Running' } })),
  },
  {
    name: 'reads-an-annotation-however-long',
    mistake: 'reads an annotation that is longer than 256 bytes as a duration',
    breaks: ['I2', 'I7'],
    scenario: 'do-not-disrupt-too-long.yaml#do-not-disrupt-too-long',
    mutation: withListed('grace-period', 'Pod', pod =>
      annotated(pod, {
        [DO_NOT_DISRUPT]: pod.metadata.annotations?.[DO_NOT_DISRUPT]?.replace(/^0+/, ''),
      }),
    ),
  },
];
