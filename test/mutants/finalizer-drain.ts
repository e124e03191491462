/** Mistakes in how a node that is terminated is emptied, and in the hooks around that. */
import { TERMINATION_STEPS } from '../../functions/finalizer/termination/terminate.ts';
import { drainNodes } from '../../functions/finalizer/termination/drain.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import {
  annotated,
  withRulesOfFinalizer,
  withKubernetes,
  withListed,
  withMovedStep,
  withRecords,
  type Mutant,
} from './mutant.ts';

const without = (...names: readonly string[]): Mutation =>
  withRulesOfFinalizer({ steps: TERMINATION_STEPS.filter(({ name }) => !names.includes(name)) });

const withoutPriority = ({ spec, ...pod }: KubernetesObject): KubernetesObject => {
  const { priorityClassName: _, ...rest } = spec ?? {};
  return { ...pod, spec: rest };
};

export const FINALIZER_DRAIN_MUTANTS: readonly Mutant[] = [
  {
    name: 'a-conflict-counts-as-done',
    mistake: 'does not look at what a change of a Node was answered, and takes a conflict for progress',
    breaks: ['I5'],
    scenario: 'one-failure-holds-one-thing.yaml#conflicts-without-end',
    mutation: withKubernetes('finalizer', api => ({
      patch: async (ref, patch, options) => {
        const outcome = await api.patch(ref, patch, options);
        if (outcome.kind !== 'conflict' || ref.type.resource !== 'nodes') return outcome;
        const seen = await api.get(ref);
        return seen.kind === 'there' ? { kind: 'ok', object: seen.object } : outcome;
      },
    })),
  },
  {
    name: 'an-ended-instance-is-emptied',
    mistake: 'waits for the pods of an instance that is stopped, or that it has ended itself',
    breaks: ['I5'],
    scenario: 'finalizer-instance.yaml#stopped-instance-under-protected-pods',
    mutation: withRulesOfFinalizer({
      steps: TERMINATION_STEPS.map(step => (step.name === drainNodes.name ? drainNodes : step)),
    }),
  },
  {
    name: 'finalizer-evicts-without-uid',
    mistake: 'evicts the pod of that name, whichever it is',
    breaks: ['I10'],
    seed: 5,
    mutation: withKubernetes('finalizer', api => ({
      evict: (ref, options) => api.evict(ref, { ...options, preconditions: {} }),
    })),
  },
  {
    name: 'finalizer-ignores-protection',
    mistake: 'does not look at do-not-disrupt',
    breaks: ['I2'],
    seed: 24,
    mutation: withListed('finalizer', 'Pod', pod => annotated(pod, { 'karpenter.sh/do-not-disrupt': undefined })),
  },
  {
    name: 'finalizer-ignores-budgets',
    mistake: 'deletes pods where it should evict them, past every PodDisruptionBudget',
    breaks: ['I2', 'I8'],
    seed: 5,
    mutation: withKubernetes('finalizer', api => ({
      evict: (ref, options) => api.delete(ref, options),
    })),
  },
  {
    name: 'finalizer-ignores-classes',
    mistake: 'evicts critical pods together with the others',
    breaks: ['I2'],
    seed: 5,
    mutation: withListed('finalizer', 'Pod', withoutPriority),
  },
  {
    name: 'finalizer-ignores-volumes',
    mistake: 'does not wait until volumes are detached',
    breaks: ['I1'],
    seed: 5,
    mutation: without('DetachVolumes'),
  },
  {
    name: 'finalizer-without-drain',
    mistake: 'does not drain',
    breaks: ['I1'],
    seed: 5,
    mutation: without('Drain'),
  },
  {
    name: 'finalizer-without-hooks',
    mistake: 'does not call the hooks that come before the end of the instance',
    breaks: ['I1'],
    seed: 24,
    mutation: without('Hooks:before-drain', 'Hooks:before-terminate'),
  },
  {
    name: 'finalizer-hook-after-the-drain',
    mistake: 'calls the hooks before the drain after it',
    breaks: ['I1'],
    seed: 24,
    mutation: withMovedStep('Drain', 'Hooks:before-drain'),
  },
  {
    name: 'finalizer-calls-hooks-again',
    mistake: 'does not remember the answer of a hook',
    breaks: ['I4', 'I5', 'I8'],
    seed: 24,
    mutation: withRecords('finalizer', records => ({
      put(record, version) {
        const text = JSON.stringify(record.state).replaceAll('"phase":"succeeded"', '"phase":"failed"');
        return records.put({ ...record, state: JSON.parse(text) }, version);
      },
    })),
  },
];
