/** Mistakes in what a drain does with pods. */
import { seconds } from '../../shared/domain/time.ts';
import { deciding, seeing, withConfiguration, withPolicies, withSettings } from './drain-mutations.ts';
import { annotated, withKubernetes, withListed, withPorts, type Mutant } from './mutant.ts';

export const DRAIN_POD_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-says-what-was-refused',
    mistake: 'says of a pod that its budget holds that it was evicted',
    breaks: ['I9'],
    scenario: 'drain-modes-are-independent.yaml#drain-modes-are-independent',
    mutation: withKubernetes('drain', api => ({
      async evict(ref, options) {
        const outcome = await api.evict(ref, options);
        return outcome.kind === 'blocked' ? { kind: 'ok' } : outcome;
      },
    })),
  },
  {
    name: 'drain-deadline-forces-protected-pods',
    mistake: 'deletes protected pods at the deadline of a drain',
    breaks: ['I2'],
    seed: 106,
    scenario: 'drain-limits.yaml#drain-limits-deadline-forces',
    mutation: withPolicies({ isProtectionOverridden: true }),
  },
  {
    name: 'drain-chases-pods-that-come-back',
    mistake: 'evicts a pod that comes back as often as it comes',
    breaks: ['I5'],
    seed: 112,
    scenario: 'drain-comes-back.yaml#drain-comes-back',
    mutation: seeing(seen => ({ ...seen, pods: seen.pods.map(pod => ({ ...pod, creationTime: undefined })) })),
  },
  {
    name: 'drain-waits-for-pods-that-never-start',
    mistake: 'does not look at whether the kubelet of the node still answers',
    breaks: ['I5'],
    scenario: 'drain-comes-back.yaml#drain-pending-pods',
    mutation: seeing(seen => ({ ...seen, node: { ...seen.node, kubeletSilentSince: undefined } })),
  },
  {
    name: 'drain-ignores-protection',
    mistake: 'does not look at do-not-disrupt',
    breaks: ['I2'],
    seed: 106,
    mutation: withListed('drain', 'Pod', pod => annotated(pod, { 'karpenter.sh/do-not-disrupt': undefined })),
  },
  {
    name: 'drain-ignores-modes',
    mistake: 'evicts at once, whatever the mode of the namespace',
    breaks: ['I2'],
    seed: 54,
    mutation: withConfiguration(configuration => ({
      ...configuration,
      modeOf: pod => (configuration.modeOf(pod) === undefined ? undefined : 'Immediate'),
    })),
  },
  {
    name: 'drain-of-every-namespace',
    mistake: 'takes pods along whose namespace no rule is about',
    breaks: ['I2'],
    seed: 112,
    mutation: withConfiguration(configuration => ({
      ...configuration,
      modeOf: pod => configuration.modeOf(pod) ?? 'Immediate',
    })),
  },
  {
    name: 'drain-of-daemons',
    mistake: 'evicts the pods of DaemonSets, which come back at once',
    breaks: ['I2'],
    seed: 67,
    mutation: withListed('drain', 'Pod', pod => {
      const { ownerReferences: _, ...metadata } = pod.metadata;
      return { ...pod, metadata };
    }),
  },
  {
    name: 'drain-deletes-early',
    mistake: 'deletes what has until a deadline at once',
    breaks: ['I2'],
    seed: 112,
    mutation: withSettings({ deleteAfterTimeout: seconds(0) }),
  },
  {
    name: 'drain-deletes-unwarned',
    mistake: 'deletes without a warning',
    breaks: ['I2'],
    scenario: 'drain-modes-are-independent.yaml#drain-modes-are-independent',
    mutation: withPorts('drain', ({ events }) => ({
      events: {
        record: async event => (event.reason === 'DrainDeletionScheduled' ? undefined : events.record(event)),
      },
    })),
  },
  {
    name: 'drain-deletes-instead-of-evicting',
    mistake: 'deletes pods where it should evict them, past every PodDisruptionBudget',
    breaks: ['I2', 'I8'],
    seed: 67,
    mutation: withKubernetes('drain', api => ({ evict: (ref, options) => api.delete(ref, options) })),
  },
  {
    name: 'drain-evicts-without-uid',
    mistake: 'evicts the pod of that name, whichever it is',
    breaks: ['I10'],
    seed: 31,
    mutation: withKubernetes('drain', api => ({
      evict: (ref, options) => api.evict(ref, { ...options, preconditions: {} }),
    })),
  },
  {
    name: 'drain-succeeds-too-soon',
    mistake: 'calls a node drained when every pod was asked to go',
    breaks: ['I2'],
    seed: 112,
    mutation: deciding(decision => {
      if (decision.kind !== 'drain') return decision;
      const { active, plan } = decision;
      return {
        kind: 'finish',
        active,
        plan,
        outcome: { status: 'Succeeded', reason: 'Drained', message: '', left: [] },
      };
    }),
  },
];
