/** Mistakes in the end of a node: its deadline, its instance, its finalizer. */
import {
  decide,
  type TerminationDecision,
  type TerminationObservation,
} from '../../functions/finalizer/termination/decide.ts';
import { TERMINATION_STEPS } from '../../functions/finalizer/termination/terminate.ts';
import { releaseObjects } from '../../functions/finalizer/termination/release.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { ObjectPatch } from '../../shared/ports/kubernetes-api.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { firstDeletionIsUnknown, firstListsFail, firstWriteFails } from './fault.ts';
import {
  isA,
  withRulesOfFinalizer,
  takenForNone,
  withKubernetes,
  withMovedStep,
  withoutErrors,
  withPorts,
  withRecords,
  type Mutant,
} from './mutant.ts';

const takingErrorsForNothing = withKubernetes('finalizer', api => ({
  list: (type, query, options) => api.list(type, query, options).catch(takenForNone),
}));

const deciding = (
  change: (decision: TerminationDecision, seen: TerminationObservation) => TerminationDecision,
): Mutation => withRulesOfFinalizer({ decide: seen => change(decide(seen), seen) });

/** Puts our finalizer on. */
const isPutOn = (patch: ObjectPatch): boolean => JSON.stringify(patch).includes('"curfew.dev/termination-finalizer":"');

export const FINALIZER_MUTANTS: readonly Mutant[] = [
  {
    name: 'finalizer-never-on',
    mistake: 'puts no finalizer on a Node',
    breaks: ['I5', 'I9'],
    seed: 13,
    mutation: withKubernetes('finalizer', api => ({
      async patch(ref, patch, options) {
        const seen = isA('Node', ref) && isPutOn(patch) ? await api.get(ref) : undefined;
        return seen?.kind === 'there' ? { kind: 'ok', object: seen.object } : await api.patch(ref, patch, options);
      },
    })),
  },
  {
    name: 'finalizer-in-a-finally',
    mistake: 'takes the finalizer off in a `finally`, whatever the steps before have come to',
    breaks: ['I1'],
    seed: 5,
    mutation: withRulesOfFinalizer({
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
    name: 'finalizer-deadline-moves-away',
    mistake: 'counts the grace period from now on instead of from the deletion',
    breaks: ['I5'],
    seed: 15,
    scenario: 'finalizer-deadline-sources.yaml#then-the-node-pools',
    mutation: withRulesOfFinalizer({
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
      decision.kind === 'terminate' && decision.deadline !== undefined
        ? { ...decision, kind: 'force', deadline: decision.deadline }
        : decision,
    ),
  },
  {
    name: 'finalizer-never-forces',
    mistake: 'forgets the deadline',
    breaks: ['I5'],
    seed: 15,
    scenario: 'finalizer-deadline-sources.yaml#the-node-claims-own-comes-first',
    mutation: deciding(decision =>
      decision.kind === 'terminate' || decision.kind === 'force'
        ? { ...decision, kind: 'terminate', deadline: undefined }
        : decision,
    ),
  },
  {
    name: 'finalizer-ends-the-instance-first',
    mistake: 'ends the instance before it drains',
    breaks: ['I1'],
    seed: 5,
    mutation: withMovedStep('TerminateInstance', 'Drain'),
  },
  {
    name: 'finalizer-releases-the-shutting-down',
    mistake: 'takes an instance that is shutting down for one that is gone',
    breaks: ['I1'],
    seed: 37,
    scenario: 'finalizer-instance.yaml#the-end-of-an-instance-is-seen-within-seconds',
    mutation: withPorts('finalizer', ({ instances }) => ({
      instances: {
        async describe(providerID) {
          const instance = await instances.describe(providerID);
          return instance?.state === 'shutting-down' ? { ...instance, state: 'terminated' } : instance;
        },
        checkOf: (...args) => instances.checkOf(...args),
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
    seed: 103,
    scenario: 'finalizer-instance.yaml#a-throttled-cloud-is-asked-again',
    mutation: withPorts('finalizer', ({ instances }) => ({
      instances: {
        describe: providerID => instances.describe(providerID).catch(() => undefined),
        checkOf: (...args) => instances.checkOf(...args),
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
    seed: 12,
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
    seed: 12,
    scenario: 'finalizer-orphans.yaml#no-orphan-without-the-api-server',
    mutation: takingErrorsForNothing,
  },
  {
    name: 'answer-at-the-node-forgotten',
    mistake: 'does not see the answers of hooks that are noted at a Node which its NodeClaim leaves',
    breaks: ['I4'],
    scenario: 'finalizer-taken-off-by-hand.yaml#node-claim-made-anew',
    fault: () => firstWriteFails('finalizer', ({ id, state }) => id.startsWith('nodeclaim/') && 'keyUid' in state),
    mutation: withRecords('finalizer', records => ({
      async get(key) {
        const record = await records.get(key);
        const isNote = record?.state['hooksOf'] !== undefined && record.state['reported'] === undefined;
        return isNote ? { ...record, state: { ...record.state, hooks: {} } } : record;
      },
    })),
  },
  {
    name: 'finalizer-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    scenario: 'finalizer-drain.yaml#the-end-of-a-protection-is-said-before-its-pod-goes',
    fault: () => firstListsFail('finalizer', 'NodeLifecyclePolicy', 4),
    mutation: withoutErrors('finalizer'),
  },
];
