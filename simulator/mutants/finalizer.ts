/** Mistakes in the end of a node, and in the clean-ups of FinalizerRules. */
import { decide, type TerminationDecision, type TerminationObservation } from '../../functions/finalizer/decide.ts';
import { createReconciler, type Rules } from '../../functions/finalizer/reconcile.ts';
import { decideRule } from '../../functions/finalizer/rules/decide.ts';
import { TERMINATION_STEPS } from '../../functions/finalizer/terminate.ts';
import { releaseObjects } from '../../functions/finalizer/steps/release.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, hours } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { Mutation } from '../swarm/seed.ts';
import { firstListsFail, firstDeletionIsUnknown } from './fault.ts';
import {
  annotated,
  isA,
  withKubernetes,
  withListed,
  withoutErrors,
  withPorts,
  withRecords,
  type Mutant,
} from './mutant.ts';

const takingErrorsForNothing = withKubernetes('finalizer', api => ({
  list: (type, query, options) => api.list(type, query, options).catch(() => []),
}));

const withRules = (rules: Partial<Rules>): Mutation => ({
  reconcilers: { finalizer: deps => createReconciler(deps, rules) },
});

const deciding = (
  change: (decision: TerminationDecision, seen: TerminationObservation) => TerminationDecision,
): Mutation => withRules({ decide: seen => change(decide(seen), seen) });

const without = (...names: readonly string[]): Mutation =>
  withRules({ steps: TERMINATION_STEPS.filter(({ name }) => !names.includes(name)) });

/** The steps in another order: `name` comes before `before`. */
function moved(name: string, before: string): Mutation {
  const steps = TERMINATION_STEPS.filter(step => step.name !== name);
  const step = TERMINATION_STEPS.find(each => each.name === name);
  if (step === undefined) throw new Error(`there is no step ${name}`);
  const index = steps.findIndex(each => each.name === before);
  return withRules({ steps: [...steps.slice(0, index), step, ...steps.slice(index)] });
}

const withoutPriority = ({ spec, ...pod }: KubernetesObject): KubernetesObject => {
  const { priorityClassName: _, ...rest } = spec ?? {};
  return { ...pod, spec: rest };
};

export const FINALIZER_MUTANTS: readonly Mutant[] = [
  {
    name: 'finalizer-in-a-finally',
    mistake: 'takes the finalizer off in a `finally`, whatever the steps before have come to',
    breaks: ['I1'],
    seed: 5,
    mutation: withRules({
      steps: [
        {
          name: 'Drain',
          async run(context) {
            try {
              for (const step of TERMINATION_STEPS) {
                const outcome = await step.run(context);
                if (outcome.kind !== 'done') return outcome;
              }
              return { kind: 'done' };
            } finally {
              await releaseObjects.run(context);
            }
          },
        },
      ],
    }),
  },
  {
    name: 'finalizer-off-at-once',
    mistake: 'takes a failed clean-up for a done one',
    breaks: ['I1'],
    scenario: 'finalizer-rule.yaml#a-failed-clean-up-keeps-the-finalizer',
    mutation: withPorts('finalizer', ({ hooks }) => ({
      hooks: {
        async invoke(call) {
          const answer = await hooks.invoke(call);
          return call.purpose === 'cleanup' && answer.kind === 'failed' ? { kind: 'succeeded' } : answer;
        },
      },
    })),
  },
  {
    name: 'finalizer-off-at-any-deadline',
    mistake: 'releases at the deadline of a FinalizerRule that says Keep',
    breaks: ['I1'],
    scenario: 'finalizer-rule.yaml#a-deadline-that-keeps',
    mutation: withRules({
      decideRule: seen => decideRule({ ...seen, rule: { ...seen.rule, onDeadline: 'Release' } }),
    }),
  },
  {
    name: 'finalizer-cleanup-without-intent',
    mistake: 'calls a clean-up before it has noted that down',
    breaks: ['I4', 'I1'],
    seed: 5,
    mutation: withRules({
      decideRule: seen => {
        const decision = decideRule(seen);
        return decision.kind === 'intend' ? { kind: 'call' } : decision;
      },
    }),
  },
  {
    name: 'finalizer-gives-up-a-cleanup',
    mistake: 'does not try a clean-up again that has failed twice',
    breaks: ['I5'],
    scenario: 'finalizer-rule.yaml#a-failed-clean-up-keeps-the-finalizer',
    mutation: withRules({
      decideRule: seen => {
        const decision = decideRule(seen);
        const isSpent = decision.kind === 'intend' && (seen.entry?.attempts ?? 0) >= 2;
        return isSpent ? { kind: 'wait', until: addDuration(seen.now, hours(6)), overdue: false } : decision;
      },
    }),
  },
  {
    name: 'finalizer-deadline-moves-away',
    mistake: 'counts the grace period from now on instead of from the deletion',
    breaks: ['I5'],
    scenario: 'finalizer-deadline-sources.yaml#the-node-claims-own-comes-first',
    mutation: withRules({
      decide: seen =>
        decide({
          ...seen,
          storedDeadline: undefined,
          claim: seen.claim && { ...seen.claim, deletionTime: seen.claim.deletionTime && seen.now },
          nodes: seen.nodes.map(node => ({ ...node, deletionTime: node.deletionTime && seen.now })),
        }),
    }),
  },
  {
    name: 'finalizer-forces-early',
    mistake: 'forces as soon as there is a deadline',
    breaks: ['I1', 'I2'],
    seed: 15,
    mutation: deciding(decision =>
      decision.kind === 'terminate' ? { ...decision, forced: decision.deadline !== undefined } : decision,
    ),
  },
  {
    name: 'finalizer-never-forces',
    mistake: 'forgets the deadline',
    breaks: ['I5'],
    scenario: 'finalizer-deadline-sources.yaml#the-node-claims-own-comes-first',
    mutation: deciding(decision =>
      decision.kind === 'terminate' ? { ...decision, forced: false, deadline: undefined } : decision,
    ),
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
    breaks: ['I2'],
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
    name: 'finalizer-ends-the-instance-first',
    mistake: 'ends the instance before it drains',
    breaks: ['I1'],
    seed: 5,
    mutation: moved('TerminateInstance', 'Drain'),
  },
  {
    name: 'finalizer-without-hooks',
    mistake: 'does not call the hooks that come before the end of the instance',
    breaks: ['I1'],
    seed: 23,
    mutation: without('Hooks:before-drain', 'Hooks:before-terminate'),
  },
  {
    name: 'finalizer-hook-after-the-drain',
    mistake: 'calls the hooks before the drain after it',
    breaks: ['I1'],
    seed: 24,
    mutation: moved('Drain', 'Hooks:before-drain'),
  },
  {
    name: 'finalizer-calls-hooks-again',
    mistake: 'does not remember the answer of a hook',
    breaks: ['I4', 'I5', 'I8'],
    seed: 24,
    mutation: withRecords('finalizer', records => ({
      put(record, version) {
        const text = JSON.stringify(record.state).replaceAll('"phase":"succeeded"', '"phase":"failed"');
        return records.put({ ...record, state: JSON.parse(text) as typeof record.state }, version);
      },
    })),
  },
  {
    name: 'finalizer-releases-the-shutting-down',
    mistake: 'takes an instance that is shutting down for one that is gone',
    breaks: ['I1'],
    scenario: 'finalizer-instance.yaml#the-end-of-an-instance-wakes-its-termination',
    mutation: withPorts('finalizer', ({ instances }) => ({
      instances: {
        async describe(providerID) {
          const instance = await instances.describe(providerID);
          return instance?.state === 'shutting-down' ? { ...instance, state: 'terminated' } : instance;
        },
        list: () => instances.list(),
        terminate: providerID => instances.terminate(providerID),
        terminateInAutoScalingGroup: (...args) => instances.terminateInAutoScalingGroup(...args),
        reboot: providerID => instances.reboot(providerID),
      },
    })),
  },
  {
    name: 'finalizer-takes-errors-for-the-end',
    mistake: 'takes an error of the cloud for an instance that is gone',
    breaks: ['I1'],
    scenario: 'finalizer-instance.yaml#a-throttled-cloud-is-asked-again',
    mutation: withPorts('finalizer', ({ instances }) => ({
      instances: {
        describe: providerID => instances.describe(providerID).catch(() => undefined),
        list: () => instances.list(),
        terminate: providerID => instances.terminate(providerID),
        terminateInAutoScalingGroup: (...args) => instances.terminateInAutoScalingGroup(...args),
        reboot: providerID => instances.reboot(providerID),
      },
    })),
  },
  {
    name: 'finalizer-takes-errors-for-nothing',
    mistake: 'takes an error of the API server for an empty list',
    breaks: ['I1', 'I6'],
    scenario: 'finalizer-volumes.yaml#volumes-are-waited-for',
    fault: () => firstListsFail('finalizer', 'VolumeAttachment', 4),
    mutation: takingErrorsForNothing,
  },
  {
    name: 'finalizer-repeats-the-unknown',
    mistake: 'deletes again when the answer to the first delete was lost',
    breaks: ['I4', 'I10'],
    scenario: 'finalizer-custom-termination.yaml#the-node-may-be-deleted-instead',
    fault: () => firstDeletionIsUnknown('finalizer', 'NodeClaim'),
    mutation: withKubernetes('finalizer', api => ({
      async delete(ref, options) {
        try {
          return await api.delete(ref, options);
        } catch (error) {
          if (!(error instanceof RetryableError) || !isA('NodeClaim', ref)) throw error;
          return await api.delete(ref, { preconditions: { uid: options?.preconditions?.uid ?? '' } });
        }
      },
    })),
  },
  {
    name: 'orphans-by-half-a-look',
    mistake: 'takes an error of the API server for a cluster that has none of the instances',
    breaks: ['I6'],
    scenario: 'finalizer-orphans.yaml#no-orphan-without-the-api-server',
    mutation: takingErrorsForNothing,
  },
  {
    name: 'ledger-forgets-the-stripped',
    mistake: 'closes the entry of an object that went without its clean-up',
    breaks: ['I1', 'I9'],
    scenario: 'finalizer-rule.yaml#a-finalizer-stripped-by-hand-is-noticed',
    mutation: withRules({
      decideRule(observation) {
        const decision = decideRule(observation);
        return decision.kind === 'orphan' ? { kind: 'close' } : decision;
      },
    }),
  },
  {
    name: 'finalizer-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    seed: 12,
    mutation: withoutErrors('finalizer'),
  },
];
