/** Mistakes in how a repair is carried out. */
import { minutes, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { ObjectAnswer } from '../../shared/ports/read-answer.ts';
import { firstListsFail, laterGetFails, firstDeletionsFail, firstDeletionIsUnknown } from './fault.ts';
import {
  isA,
  methodsOf,
  takenForNone,
  withKubernetes,
  withoutErrors,
  withoutRemovalOf,
  withPorts,
  withPortsOfRun,
  withRecords,
  withRepairRules,
  withoutTimer,
  type Mutant,
} from './mutant.ts';

const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';
const TOO_LATE = 'repair-recovery-cancels.yaml#repair-recovery-comes-too-late';

/** Answers of the first time, for `forMs`. */
function remembering(api: KubernetesApi, now: () => EpochMs, forMs: number): Pick<KubernetesApi, 'get'> {
  const known = new Map<string, { readonly time: EpochMs; readonly answer: ObjectAnswer }>();
  return {
    async get(ref) {
      if (!isA('Node', ref)) return await api.get(ref);
      const seen = known.get(ref.name);
      if (seen !== undefined && now() - seen.time <= forMs) return seen.answer;
      const answer = await api.get(ref);
      known.set(ref.name, { time: now(), answer });
      return answer;
    },
  };
}

export const REPAIR_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-without-second-look',
    mistake: 'does not look at the node again after it has recorded its intent',
    breaks: ['I3'],
    seed: 100057,
    scenario: 'repair-again.yaml#repair-again-after-a-day',
    mutation: withPortsOfRun('repair', ({ kubernetes, clock }) => ({
      kubernetes: { ...methodsOf(kubernetes), ...remembering(kubernetes, () => clock.now(), Infinity) },
    })),
  },
  {
    name: 'repair-from-cache',
    mistake: 'looks at a copy of the node that is up to a minute old',
    breaks: ['I3', 'I5'],
    seed: 100017,
    scenario: 'repair-asks-by-custom-resource.yaml#repair-custom-resource-fails',
    mutation: withPorts('repair', ({ kubernetes, clock }) => ({
      kubernetes: { ...methodsOf(kubernetes), ...remembering(kubernetes, () => clock.now(), minutes(1)) },
    })),
  },
  {
    name: 'repair-without-uid',
    mistake: 'deletes the NodeClaim of that name, whichever it is',
    breaks: ['I10'],
    seed: 58,
    scenario: 'repair-is-not-misled-by-names.yaml#repair-node-of-the-same-name',
    mutation: withKubernetes('repair', api => ({
      delete: (ref, options) => api.delete(ref, { ...options, preconditions: {} }),
    })),
  },
  {
    name: 'repair-without-timer',
    mistake: 'leaves the wake-up time out of the record: what is not sent at once is forgotten',
    breaks: ['I5', 'I8'],
    seed: 100057,
    scenario: 'repair-default-toleration-lengthens.yaml#repair-default-toleration-lengthens',
    mutation: withRecords('repair', records => ({
      put: (record, version) => records.put(withoutTimer(record), version),
    })),
  },
  {
    name: 'repair-without-intent',
    mistake: 'records what it did afterwards only',
    breaks: ['I3', 'I4', 'I8'],
    seed: 100021,
    scenario: 'repair-keeps-to-its-budget.yaml#repair-two-at-a-time',
    mutation: withRecords('repair', records => ({
      async put(record, version) {
        const isIntent = JSON.stringify(record.state).includes('"phase":"intended"');
        const current = isIntent ? await records.get(record) : undefined;
        return current === undefined ? await records.put(record, version) : { kind: 'written', record: current };
      },
    })),
  },
  {
    name: 'repair-repeats-the-unknown',
    mistake: 'deletes again when the answer to the first delete was lost',
    breaks: ['I4'],
    scenario: 'repair-does-not-ask-do-not-disrupt.yaml#repair-does-not-ask-do-not-disrupt',
    fault: () => firstDeletionIsUnknown('repair', 'NodeClaim'),
    mutation: withKubernetes('repair', api => ({
      async delete(ref, options) {
        try {
          return await api.delete(ref, options);
        } catch (error) {
          if (!(error instanceof RetryableError && error.outcomeUnknown)) throw error;
          const { resourceVersion: _, ...byUid } = options.preconditions;
          return await api.delete(ref, { ...options, preconditions: byUid });
        }
      },
    })),
  },
  {
    name: 'repair-takes-errors-for-nothing',
    mistake: 'takes an error of the API server for an empty list',
    breaks: ['I3', 'I5', 'I6'],
    scenario: 'repair-counts-from-the-transition.yaml#repair-times-in-other-forms',
    fault: () => firstListsFail('repair', 'Node', 4),
    mutation: withKubernetes('repair', api => ({
      list: (type, query, options) => api.list(type, query, options).catch(takenForNone),
    })),
  },
  {
    name: 'repair-takes-errors-for-absence',
    mistake: 'takes an error of the API server for an object that is gone',
    breaks: ['I5', 'I6', 'I7'],
    scenario: 'repair-again.yaml#repair-again-of-the-same-condition',
    fault: () => laterGetFails('repair', 'NodePool', minutes(30)),
    mutation: withKubernetes('repair', api => ({ get: ref => api.get(ref).catch(() => ({ kind: 'notThere' })) })),
  },
  {
    name: 'repair-swallows-errors',
    mistake: 'logs what went wrong and reports success',
    breaks: ['I5'],
    scenario: 'repair-in-seconds.yaml#repair-in-seconds-above-the-threshold',
    fault: () => firstListsFail('repair', 'Node', 4),
    mutation: withoutErrors('repair'),
  },
  {
    name: 'repair-keeps-its-annotation',
    mistake: 'does not take its annotation back when a repair is called off',
    breaks: ['I7'],
    scenario: TOO_LATE,
    fault: () => firstDeletionsFail('repair', 'NodeClaim', 2),
    mutation: withoutRemovalOf('repair', TERMINATION_TIMESTAMP),
  },
  {
    name: 'repair-forgets-its-timestamp',
    mistake: 'does not know the annotation of its attempt before the last as its own',
    breaks: ['I7'],
    scenario: TOO_LATE,
    fault: () => firstDeletionsFail('repair', 'NodeClaim', 2),
    mutation: withRepairRules(rules => ({
      ...rules,
      decide(seen) {
        const decision = rules.decide(seen);
        const isGranted = new Set(decision.granted.map(({ finding }) => finding.node.uid));
        const findings = decision.findings.map(look => {
          const { record } = look;
          if (!isGranted.has(look.node.uid) || record?.attempt?.action !== 'Terminate') return look;
          if (record.attempt.claim === undefined) return look;
          const { pods, ...rest } = record.attempt;
          if (pods.kind === 'unbounded' || pods.annotation === undefined) return look;
          const annotation = { ...pods.annotation, set: toTimestamp(seen.now) };
          const attempt = { ...rest, pods: { ...pods, annotation } };
          return { ...look, record: { ...record, attempt } };
        });
        return { ...decision, findings };
      },
    })),
  },
  {
    name: 'repair-strips-finalizers',
    mistake: 'takes all finalizers off the NodeClaim in a `finally`, so that it is gone at once',
    breaks: ['I1', 'I7'],
    seed: 59,
    mutation: withKubernetes('repair', api => ({
      async delete(ref, options) {
        try {
          return await api.delete(ref, options);
        } finally {
          const body = { metadata: { uid: options?.preconditions?.uid ?? '', finalizers: null } };
          if (isA('NodeClaim', ref)) await api.patch(ref, { type: 'merge', body });
        }
      },
    })),
  },
];
