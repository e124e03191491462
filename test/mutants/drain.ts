/** Mistakes in drains. */
import { createReconciler } from '../../functions/drain/reconcile.ts';
import { toFinished } from '../../functions/drain/admission.ts';
import { decide } from '../../functions/drain/decide.ts';
import type { DrainDecision, Preparation } from '../../functions/drain/decision.ts';
import type { DrainRequest, FinishedDrain } from '../../functions/drain/model.ts';
import type { DrainObservation, DrainRules } from '../../functions/drain/observation.ts';
import { FULL } from '../../functions/drain/scope.ts';
import { NO_DRAIN_LIMITS } from '../../shared/domain/drain-limits.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import { hours, seconds, type EpochMs } from '../../shared/domain/time.ts';
import { textOf } from '../../simulator/invariants/reading.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { firstListsFail } from './fault.ts';
import {
  annotated,
  isA,
  methodsOf,
  takenForNone,
  withKubernetes,
  withListed,
  withoutErrors,
  withPorts,
  type Mutant,
} from './mutant.ts';

const deciding = (change: (decision: DrainDecision, seen: DrainObservation) => DrainDecision): Mutation => ({
  reconcilers: { drain: deps => createReconciler(deps, { decide: seen => change(decide(seen), seen) }) },
});

const seeing = (change: (seen: DrainObservation) => DrainObservation): Mutation => ({
  reconcilers: { drain: deps => createReconciler(deps, { decide: seen => decide(change(seen)) }) },
});

const withRules = (change: (rules: DrainRules) => DrainRules): Mutation =>
  seeing(seen => ({ ...seen, rules: seen.rules && change(seen.rules) }));

const withSettings = (change: Partial<DrainRules['settings']>): Mutation =>
  withRules(rules => ({ ...rules, settings: { ...rules.settings, ...change } }));

const uncordoned = (prepare: Preparation): Preparation => ({ ...prepare, hold: { ...prepare.hold, cordon: 'none' } });

/** Begins by what it saw before it marked its Node: shows only when the looks of two nodes meet. */
export const BEGINS_WITHOUT_A_SECOND_LOOK: Mutation = seeing(seen =>
  seen.record.active?.queue?.takes === true && seen.neighbours !== undefined
    ? { ...seen, neighbours: { ...seen.neighbours, draining: 0 } }
    : seen,
);

const refusal = (request: DrainRequest, now: EpochMs): FinishedDrain =>
  toFinished(
    request,
    { status: 'Failed', reason: 'TooManyRequests', message: 'too many requests wait', left: [] },
    { now, scope: FULL, drained: 0 },
  );

/** Texts of the event are put into the template before it is rendered: they are read as its own. */
const pastingMessages: Mutation = {
  reconcilers: {
    drain(deps) {
      const messages: string[] = [];
      const { kubernetes } = deps;
      const paste = (text: string): string => text.replace('{{ .HealthEvent.Message }}', messages.at(-1) ?? '');
      const reconcile = createReconciler({
        ...deps,
        kubernetes: {
          ...methodsOf(kubernetes),
          async get(ref) {
            const answer = await kubernetes.get(ref);
            if (answer.kind !== 'there' || !isA('ConfigMap', ref)) return answer;
            const { data } = answer.object;
            if (!isJsonObject(data)) return answer;
            const pasted = Object.entries(data).map(([key, text]) => [key, paste(textOf(text) ?? '')]);
            return { kind: 'there', object: { ...answer.object, data: Object.fromEntries(pasted) } };
          },
        },
      });
      return message => {
        if (message.kind === 'busEvent') messages.push(textOf(message.detail['message']) ?? '');
        return reconcile(message);
      };
    },
  },
};

export const DRAIN_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-of-the-whole-pool-at-once',
    mistake: 'does not look at how many nodes of a pool may be drained',
    breaks: ['I3'],
    scenario: 'drain-limits.yaml#drain-limits-one-after-the-other',
    mutation: seeing(seen => ({ ...seen, limits: NO_DRAIN_LIMITS })),
  },
  {
    name: 'drain-takes-a-place-that-others-took',
    mistake: 'counts those that wait and not those that are drained',
    breaks: ['I3'],
    scenario: 'drain-limits.yaml#drain-limits-one-after-the-other',
    mutation: seeing(seen => ({ ...seen, neighbours: seen.neighbours && { ...seen.neighbours, draining: 0 } })),
  },
  {
    name: 'drain-pastes-texts-into-its-template',
    mistake: 'lets a text of the event become a field of the custom resource',
    breaks: ['I8'],
    scenario: 'drain-template-injected.yaml#drain-template-injected',
    mutation: pastingMessages,
  },
  {
    name: 'drain-never-hides-its-conditions',
    mistake: 'leaves Drained on a node that was opened',
    breaks: ['I7'],
    scenario: 'drain-conditions.yaml#drain-conditions',
    mutation: seeing(seen => ({
      ...seen,
      node: { ...seen.node, shown: seen.record.active === undefined ? 'nothing' : seen.node.shown },
    })),
  },
  {
    name: 'drain-shows-nothing-on-its-node',
    mistake: 'writes no conditions of a drain',
    breaks: ['I6'],
    scenario: 'drain-conditions.yaml#drain-conditions',
    mutation: withKubernetes('drain', api => ({
      async patch(ref, patch, options) {
        if (options?.subresource !== 'status' || !isA('Node', ref)) return await api.patch(ref, patch, options);
        const answer = await api.get(ref);
        return answer.kind === 'there' ? { kind: 'ok', object: answer.object } : { kind: 'notFound' };
      },
    })),
  },
  {
    name: 'drain-refuses-where-many-wait',
    mistake: 'refuses what comes to a node on which as many requests wait as its record holds',
    breaks: ['I5'],
    scenario: 'drain-crowded.yaml#drain-crowded',
    mutation: deciding((decision, seen) =>
      decision.kind === 'take' && (seen.record.active?.requests.length ?? 0) >= 50
        ? { kind: 'answer', answer: refusal(decision.request, seen.now), repeated: false, record: seen.record }
        : decision,
    ),
  },
  {
    name: 'drain-does-not-see-who-opens-a-node',
    mistake: 'does not see that somebody has opened the node after its drain',
    breaks: ['I5'],
    scenario: 'drain-opened-by-a-person.yaml#drain-opened-by-a-person',
    mutation: seeing(seen => {
      const isOver = seen.record.active === undefined && seen.record.requests.length === 0;
      return isOver ? { ...seen, node: { ...seen.node, unschedulable: true } } : seen;
    }),
  },
  {
    name: 'drain-closes-again-what-a-person-opened',
    mistake: 'begins what was to follow a drain that somebody has called off by opening the node',
    breaks: ['I7'],
    scenario: 'drain-opened-by-a-person.yaml#drain-opened-before-the-next-drain',
    mutation: deciding((decision, { record: { active } }) =>
      decision.kind === 'finish' && decision.outcome.reason === 'Uncordoned' && active !== undefined
        ? { ...decision, active }
        : decision,
    ),
  },
  {
    name: 'drain-deadline-forces-protected-pods',
    mistake: 'deletes protected pods at the deadline of a drain',
    breaks: ['I2'],
    scenario: 'drain-limits.yaml#drain-limits-deadline-forces',
    mutation: seeing(seen => ({ ...seen, protectionOverridden: true })),
  },
  {
    name: 'drain-chases-pods-that-come-back',
    mistake: 'evicts a pod that comes back as often as it comes',
    breaks: ['I5'],
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
    name: 'custom-drain-follows-the-label',
    mistake: 'forgets that the custom resource was asked for once the node loses its label',
    breaks: ['I2'],
    scenario: 'drain-custom-stays.yaml#drain-custom-stays',
    mutation: deciding((decision, seen) => {
      const isLost = seen.rules?.settings.customDrain !== undefined && !seen.rules.isCustom(seen.node.labels);
      const { active } = seen.record;
      if (!isLost || active?.custom === undefined) return decision;
      const { custom: _, ...rest } = active;
      return decide({ ...seen, record: { ...seen.record, active: rest } });
    }),
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
    mutation: withRules(rules => ({
      ...rules,
      modeOf: pod => (rules.modeOf(pod) === undefined ? undefined : 'Immediate'),
    })),
  },
  {
    name: 'drain-of-every-namespace',
    mistake: 'takes pods along whose namespace no rule is about',
    breaks: ['I2'],
    seed: 112,
    mutation: withRules(rules => ({ ...rules, modeOf: pod => rules.modeOf(pod) ?? 'Immediate' })),
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
    name: 'drain-without-a-cordon',
    mistake: 'does not cordon the node',
    breaks: ['I7'],
    scenario: 'drain-asked-on-the-node.yaml#drain-asked-on-the-node',
    mutation: deciding(decision => {
      if (decision.kind === 'prepare') return uncordoned(decision);
      return decision.kind === 'begin' && decision.next ? { ...decision, next: uncordoned(decision.next) } : decision;
    }),
  },
  {
    name: 'drain-despite-a-hand',
    mistake: 'goes on although somebody has uncordoned the node',
    breaks: ['I7'],
    scenario: 'drain-is-cancelled.yaml#drain-is-cancelled-by-hand',
    mutation: seeing(seen =>
      seen.record.active?.hold === undefined ? seen : { ...seen, node: { ...seen.node, unschedulable: true } },
    ),
  },
  {
    name: 'drain-despite-a-recovery',
    mistake: 'does not listen when the fault is over',
    breaks: ['I2', 'I5'],
    scenario: 'drain-is-cancelled.yaml#drain-is-cancelled-by-recovery',
    mutation: seeing(seen => {
      const { incoming, ...rest } = seen;
      return incoming === undefined || incoming.kind === 'drain' ? seen : { ...rest, incoming: undefined };
    }),
  },
  {
    name: 'drain-of-the-skipped',
    mistake: 'does not read drainOverrides.skip',
    breaks: ['I2'],
    scenario: 'drain-covers.yaml#drain-covers',
    mutation: seeing(seen => {
      const { incoming } = seen;
      if (incoming?.kind !== 'drain') return seen;
      const { request } = incoming;
      const event = { ...request.event, drainOverrides: undefined };
      return { ...seen, incoming: { ...incoming, request: { ...request, event } } };
    }),
  },
  {
    name: 'drain-in-observe-mode',
    mistake: 'acts where the mode is Observe',
    breaks: ['I2'],
    scenario: 'drain-is-held-in-observe-mode.yaml#drain-is-held-in-observe-mode',
    mutation: seeing(seen => ({ ...seen, mode: 'Enforce' })),
  },
  {
    name: 'drain-succeeds-too-soon',
    mistake: 'calls a node drained when every pod was asked to go',
    breaks: ['I2'],
    seed: 112,
    mutation: deciding(decision => {
      if (decision.kind !== 'drain') return decision;
      const { active, pass } = decision;
      return {
        kind: 'finish',
        active,
        pass,
        outcome: { status: 'Succeeded', reason: 'Drained', message: '', left: [] },
      };
    }),
  },
  {
    name: 'drain-beside-the-custom-one',
    mistake: 'evicts pods that the custom drain is to end',
    breaks: ['I2'],
    seed: 54,
    mutation: withRules(rules => ({ ...rules, isCustom: () => false, modeOf: () => 'Immediate' })),
  },
  {
    name: 'drain-of-a-foreign-resource',
    mistake: 'takes a custom resource of its name for its own',
    breaks: ['I7'],
    seed: 86,
    mutation: seeing(seen =>
      seen.resource.kind === 'present' ? { ...seen, resource: { ...seen.resource, ours: true } } : seen,
    ),
  },
  {
    name: 'drain-leaves-its-resource',
    mistake: 'does not delete the custom resource when the drain is over',
    breaks: ['I5'],
    seed: 29,
    mutation: withKubernetes('drain', api => ({
      delete: (ref, options) =>
        ref.type.resource === 'drainrequests' ? Promise.resolve({ kind: 'ok' }) : api.delete(ref, options),
    })),
  },
  {
    name: 'drain-waits-for-ever',
    mistake: 'does not enforce the time-out of a custom drain',
    breaks: ['I5'],
    scenario: 'drain-custom-ends.yaml#drain-custom-fails-out-of-time',
    mutation: withRules(rules => {
      const { customDrain } = rules.settings;
      if (customDrain === undefined) return rules;
      return { ...rules, settings: { ...rules.settings, customDrain: { ...customDrain, timeout: hours(24) } } };
    }),
  },
  {
    name: 'drain-takes-errors-for-nothing',
    mistake: 'takes an error of the API server for a node without pods',
    breaks: ['I2', 'I5', 'I6'],
    scenario: 'drain-evicts-at-once.yaml#drain-evicts-at-once',
    fault: () => firstListsFail('drain', 'Pod', 4),
    mutation: withKubernetes('drain', api => ({
      list: (type, query, options) => api.list(type, query, options).catch(takenForNone),
    })),
  },
  {
    name: 'drain-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    scenario: 'drain-protects.yaml#drain-protects-until-the-node-claim-is-forced',
    fault: () => firstListsFail('drain', 'Pod'),
    mutation: withoutErrors('drain'),
  },
];
