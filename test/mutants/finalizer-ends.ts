/** Mistakes about what is there and what is not when a node ends, who calls hooks, and what rules leave behind. */
import { decideRule } from '../../functions/finalizer/rules/decide.ts';
import type { TerminationContext } from '../../functions/finalizer/steps/context.ts';
import { hooksAt } from '../../functions/finalizer/steps/hooks.ts';
import { TERMINATION_STEPS } from '../../functions/finalizer/terminate.ts';
import { HOOK_POINTS } from '../../shared/domain/termination.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import {
  isA,
  original,
  withFinalizerRules,
  withKubernetes,
  withListed,
  withPorts,
  withRecords,
  type Mutant,
} from './mutant.ts';

/** The hooks of each point see another context than the other steps. */
const hooksSeeing = (change: (context: TerminationContext) => TerminationContext): Mutation =>
  withFinalizerRules({
    steps: TERMINATION_STEPS.map(step => {
      const point = HOOK_POINTS.find(at => hooksAt(at).name === step.name);
      if (point === undefined) return step;
      return { name: step.name, run: context => hooksAt(point).run(change(context)) };
    }),
  });

const WITHOUT_WAITING = 'finalizer-hooks-nobody-waits-for.yaml';
const RULES = 'finalizer-rules-that-do-not-clean-up.yaml';
const THERE = 'finalizer-what-is-there.yaml';

export const FINALIZER_END_MUTANTS: readonly Mutant[] = [
  {
    name: 'hooks-of-an-instance-that-stays',
    mistake: 'calls the hooks of a NodeClaim whose instance another NodeClaim has',
    breaks: ['I7'],
    scenario: `${WITHOUT_WAITING}#a-shared-instance-stays-and-no-hook-is-called`,
    mutation: hooksSeeing(context => ({ ...context, look: { ...context.look, sharedWith: [] } })),
  },
  {
    name: 'hooks-wait-beside-karpenter',
    mistake: 'waits for a hook although Karpenter ends the instance by itself',
    breaks: ['I8'],
    scenario: `${WITHOUT_WAITING}#beside-karpenter-a-hook-holds-nothing`,
    mutation: hooksSeeing(context => {
      const { claim } = context.look;
      if (claim === undefined) return context;
      const metadata = { ...claim.metadata, finalizers: [] };
      return { ...context, look: { ...context.look, claim: { ...claim, metadata } } };
    }),
  },
  {
    name: 'hooks-skipped-at-the-deadline',
    mistake: 'does not call the hooks that the deadline found uncalled',
    breaks: ['I5'],
    scenario: `${WITHOUT_WAITING}#a-deadline-calls-each-hook-once-and-waits-for-none`,
    mutation: withFinalizerRules({
      steps: TERMINATION_STEPS.map(step =>
        step.name.startsWith('Hooks:')
          ? { name: step.name, run: async context => (context.forced ? { kind: 'done' } : step.run(context)) }
          : step,
      ),
    }),
  },
  {
    name: 'stopped-instance-waited-for',
    mistake: 'drains a node whose instance is stopped',
    breaks: ['I5'],
    scenario: `${THERE}#a-stopped-instance-is-not-waited-for`,
    mutation: withPorts('finalizer', ({ instances }) => ({
      instances: {
        list: () => instances.list(),
        terminate: id => instances.terminate(id),
        reboot: id => instances.reboot(id),
        terminateInAutoScalingGroup: id => instances.terminateInAutoScalingGroup(id),
        async describe(id) {
          const found = await instances.describe(id);
          return found?.state === 'stopped' ? { ...found, state: 'running' } : found;
        },
      },
    })),
  },
  {
    name: 'volumes-of-an-earlier-node',
    mistake: 'waits for a VolumeAttachment that is older than the Node',
    breaks: ['I5'],
    scenario: `${THERE}#a-volume-of-an-earlier-node-is-not-waited-for`,
    mutation: withListed('finalizer', 'VolumeAttachment', object => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp: '2100-01-01T00:00:00Z' },
    })),
  },
  {
    name: 'tolerating-pod-dies-protected',
    mistake: 'ends an instance under a protected pod that tolerates every taint',
    breaks: ['I2'],
    scenario: `${THERE}#a-protected-pod-that-tolerates-every-taint-is-waited-for`,
    mutation: withListed('finalizer', 'Pod', object => {
      const isTolerant = JSON.stringify(object.spec?.['tolerations'] ?? []).includes('Exists');
      return isTolerant ? { ...object, metadata: { ...object.metadata, annotations: {} } } : object;
    }),
  },
  {
    name: 'forced-deletion-without-disruption-target',
    mistake: 'deletes a pod by force without the condition that says so',
    breaks: ['I8'],
    scenario: `${THERE}#a-pod-that-is-deleted-by-force-says-why`,
    mutation: withListed('finalizer', 'Pod', object => ({
      ...object,
      status: { ...object.status, conditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    })),
  },
  {
    name: 'rule-in-conflict-abandons-its-objects',
    mistake: 'leaves what carries the finalizer of a rule in conflict to nobody',
    breaks: ['I5'],
    scenario: `${RULES}#a-rule-in-conflict-cleans-up-what-carries-its-finalizer`,
    mutation: withFinalizerRules({
      decideRule: seen => (seen.holdsNew ? decideRule(seen) : { kind: 'ignore' }),
    }),
  },
  {
    name: 'released-without-the-ledger',
    mistake: 'takes a finalizer off unclean before the ledger knows of it',
    breaks: ['I9', 'I1'],
    scenario: `${RULES}#what-is-released-unclean-is-in-the-ledger-first`,
    mutation: withFinalizerRules({
      decideRule(seen) {
        const decision = decideRule(seen);
        return decision.kind === 'release' ? { kind: 'free' } : decision;
      },
    }),
  },
  {
    name: 'rule-is-gone-without-a-word',
    mistake: 'forgets an entry whose rule is gone',
    breaks: ['I9'],
    scenario: `${RULES}#a-finalizer-whose-rule-is-gone-is-said`,
    mutation: withKubernetes('finalizer', api => ({
      resolve: async kind => (kind.kind === 'ManagedDatabase' ? undefined : await api.resolve(kind)),
      async list(type, query, options) {
        const answer = await api.list(type, query, options);
        if (!isA('FinalizerRule', type) || answer.kind !== 'there') return answer;
        return answer.objects.length > 0 ? answer : { kind: 'there', objects: [GHOST] };
      },
    })),
  },
  {
    name: 'map-under-conditions-overwritten',
    mistake: 'puts a list where a kind keeps a map under status.conditions',
    breaks: ['I7'],
    scenario: `${RULES}#a-map-under-conditions-is-left-alone`,
    mutation: withKubernetes('finalizer', api => ({
      async get(ref) {
        const answer = await api.get(ref);
        const isIts = answer.kind === 'there' && answer.object.kind === 'ManagedDatabase';
        return isIts ? { kind: 'there', object: { ...answer.object, status: {} } } : answer;
      },
    })),
  },
  {
    name: 'late-success-dropped',
    mistake: 'does not hear a worker that answers late',
    breaks: ['I9'],
    scenario: `${RULES}#a-late-success-ends-a-possible-orphan`,
    mutation: {
      reconcilers: {
        finalizer: deps => async message =>
          message.kind === 'busEvent' ? undefined : original('finalizer')(deps)(message),
      },
    },
  },
  {
    name: 'rule-calls-without-a-bound',
    mistake: 'remembers no call of a rule',
    breaks: ['I5'],
    scenario: `${RULES}#a-rule-says-how-often-its-clean-up-is-called`,
    mutation: withRecords('finalizer', records => ({
      get: key => (key.id.startsWith('rule-calls/') ? Promise.resolve(undefined) : records.get(key)),
      async put(record, version) {
        const stored = record.id.startsWith('rule-calls/') ? await records.get(record) : undefined;
        return records.put(record, stored?.version ?? version);
      },
    })),
  },
];

/** A rule for another kind. */
const GHOST = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'FinalizerRule',
  metadata: { name: 'gone', uid: 'ghost', resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  spec: {
    group: 'database.example.com',
    version: 'v1',
    kind: 'ManagedDatabase',
    finalizerName: 'database.example.com/gone',
    cleanup: { builtin: { name: 'None' } },
  },
};
