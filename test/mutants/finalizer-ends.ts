/** Mistakes about what is there and what is not when a node ends, who calls hooks, and what rules leave behind. */
import { decide } from '../../functions/finalizer/termination/decide.ts';
import { decide as decideObject } from '../../functions/finalizer/objects/decide.ts';
import type { StepContext } from '../../functions/finalizer/termination/context.ts';
import { hooksAt } from '../../functions/finalizer/termination/hooks.ts';
import { TERMINATION_STEPS } from '../../functions/finalizer/termination/terminate.ts';
import { parseJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { messageOf, RetryableError } from '../../shared/errors.ts';
import { HOOK_POINTS } from '../../shared/domain/termination.ts';
import { hours } from '../../shared/domain/time.ts';
import type { Instances } from '../../shared/ports/instances.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { forgetting } from './denials.ts';
import { terminationsAreRefused } from './fault.ts';
import {
  isA,
  original,
  takenForNone,
  withRulesOfFinalizer,
  withKubernetes,
  withListed,
  withPorts,
  withRecords,
  type Mutant,
} from './mutant.ts';

/** The hooks of each point see another context than the other steps. */
const hooksSeeing = (change: (context: StepContext) => StepContext): Mutation =>
  withRulesOfFinalizer({
    steps: TERMINATION_STEPS.map(step => {
      const point = HOOK_POINTS.find(at => hooksAt(at).name === step.name);
      if (point === undefined) return step;
      return { ...step, run: context => hooksAt(point).run(change(context)) };
    }),
  });

/** What EC2 says of an instance is read in another way. */
const describing = (read: (found: Described) => Described): Mutation =>
  withPorts('finalizer', ({ instances }) => ({
    instances: {
      checkOf: (...args) => instances.checkOf(...args),
      list: () => instances.list(),
      terminate: id => instances.terminate(id),
      reboot: id => instances.reboot(id),
      terminateInAutoScalingGroup: id => instances.terminateInAutoScalingGroup(id),
      describe: async id => read(await instances.describe(id)),
    },
  }));
type Described = Awaited<ReturnType<Instances['describe']>>;

/** What was reported of a failure is forgotten before the record is written. */
const failureReportsForgotten = withRecords('finalizer', records => ({
  put: (record, version) => records.put({ ...record, state: withoutReports(record.state) }, version),
}));

const withoutReports = (state: JsonObject): JsonObject =>
  parseJsonObject(JSON.stringify(state, (key, value: unknown) => (key === 'failureReport' ? undefined : value)));

const WITHOUT_WAITING = 'finalizer-hooks-nobody-waits-for.yaml';
const RULES = 'finalizer-rules-that-do-not-clean-up.yaml';
const THERE = 'finalizer-what-is-there.yaml';

export const FINALIZER_END_MUTANTS: readonly Mutant[] = [
  {
    name: 'failing-hook-reported-each-time',
    mistake: 'records an Event at each try of a hook that fails',
    breaks: ['I11'],
    scenario: 'finalizer-settings-change.yaml#a-block-that-cannot-be-read-changes-nothing-under-way',
    mutation: failureReportsForgotten,
  },
  {
    name: 'failing-clean-up-reported-each-time',
    mistake: 'records an Event at each try of a clean-up that fails',
    breaks: ['I11'],
    scenario: 'finalizer-rule.yaml#a-failed-clean-up-keeps-the-finalizer',
    mutation: failureReportsForgotten,
  },
  {
    name: 'refused-terminations-as-often-as-ever',
    mistake: 'asks EC2 every minute to end an instance that it refuses to end, and says so each time',
    breaks: ['I11'],
    scenario: 'refused-pods-and-instances.yaml#termination-of-an-instance',
    fault: () => terminationsAreRefused(hours(2)),
    mutation: forgetting('finalizer', key => key.startsWith('terminate ')),
  },
  {
    name: 'hooks-of-an-instance-that-stays',
    mistake: 'calls the hooks of a NodeClaim whose instance another NodeClaim has',
    breaks: ['I7'],
    scenario: `${WITHOUT_WAITING}#a-shared-instance-stays-and-no-hook-is-called`,
    mutation: hooksSeeing(context => ({ ...context, observed: { ...context.observed, sharedWith: [] } })),
  },
  {
    name: 'hooks-wait-beside-karpenter',
    mistake: 'waits for a hook although Karpenter ends the instance by itself',
    breaks: ['I8'],
    scenario: `${WITHOUT_WAITING}#beside-karpenter-a-hook-holds-nothing`,
    mutation: hooksSeeing(context => {
      const { claim } = context.observed;
      if (claim === undefined) return context;
      const metadata = { ...claim.metadata, finalizers: [] };
      return { ...context, observed: { ...context.observed, claim: { ...claim, metadata } } };
    }),
  },
  {
    name: 'termination-waits-in-the-queue',
    mistake: 'hands a termination that would begin back to the queue while nobody gets to see the policies',
    breaks: ['I6'],
    scenario: 'settings-that-cannot-be-read.yaml#a-termination-that-would-begin-while-policies-are-refused',
    mutation: withRulesOfFinalizer({
      decide(seen) {
        const decision = decide(seen);
        if (decision.kind === 'awaitSettings') throw new RetryableError(decision.message);
        return decision;
      },
    }),
  },
  {
    name: 'kept-node-claim-forgets-its-hooks',
    mistake: 'closes the record of a termination while somebody else keeps the NodeClaim',
    breaks: ['I4'],
    scenario: `${WITHOUT_WAITING}#a-node-claim-that-is-kept-calls-no-hook-again`,
    mutation: withRecords('finalizer', records => ({
      put: (record, version) =>
        record.state['unheld'] === true
          ? records.put({ ...record, state: { ...record.state, hooks: {} } }, version)
          : records.put(record, version),
    })),
  },
  {
    name: 'node-that-stays-forgets-its-hooks',
    mistake: 'keeps no record of a Node that its NodeClaim leaves',
    breaks: ['I4'],
    scenario: `${WITHOUT_WAITING}#a-node-that-its-node-claim-leaves-calls-no-hook-again`,
    mutation: withRecords('finalizer', records => ({
      put: (record, version) =>
        record.id.startsWith('node/') && record.state['reported'] === undefined
          ? records.put({ ...record, state: { ...record.state, hooks: {} } }, version)
          : records.put(record, version),
    })),
  },
  {
    name: 'hooks-of-a-node-forgotten',
    mistake: 'forgets which hooks of a Node were called when a NodeClaim stands for it again',
    breaks: ['I4'],
    scenario: 'finalizer-taken-off-by-hand.yaml#node-claim-made-anew',
    mutation: withRecords('finalizer', records => ({
      put({ state, ...record }, version) {
        const isTaken = 'hooksOf' in state || (record.id.startsWith('nodeclaim/') && 'keyUid' in state);
        return records.put({ ...record, state: isTaken ? { ...state, hooks: {} } : state }, version);
      },
    })),
  },
  {
    name: 'hooks-of-a-node-called-twice',
    mistake: 'does not note on a Node that its hooks are called in the termination of its NodeClaim',
    breaks: ['I4'],
    scenario: `${WITHOUT_WAITING}#a-node-whose-node-claim-went-first-calls-no-hook-again`,
    mutation: withRecords('finalizer', records => ({
      put: (record, version) => {
        const { hooksOf: _, ...state } = record.state;
        return records.put({ ...record, state }, version);
      },
    })),
  },
  {
    name: 'hooks-skipped-at-the-deadline',
    mistake: 'does not call the hooks that the deadline found uncalled',
    breaks: ['I5'],
    scenario: `${WITHOUT_WAITING}#a-deadline-calls-each-hook-once-and-waits-for-none`,
    mutation: withRulesOfFinalizer({
      steps: TERMINATION_STEPS.map(step =>
        step.name.startsWith('Hooks:')
          ? { ...step, run: async context => (context.isForced ? { kind: 'done' } : step.run(context)) }
          : step,
      ),
    }),
  },
  {
    name: 'forced-hook-does-not-know',
    mistake: 'does not tell a hook at the deadline that nobody waits for it',
    breaks: ['I8'],
    scenario: `${WITHOUT_WAITING}#at-the-deadline-each-kind-of-hook-is-told-that-it-is-forced`,
    mutation: withPorts('finalizer', ({ hooks }) => ({
      hooks: { invoke: call => hooks.invoke({ ...call, details: { ...call.details, forced: false } }) },
    })),
  },
  {
    name: 'forced-resource-does-not-know',
    mistake: 'gives the template of a hook nothing that tells the deadline',
    breaks: ['I8'],
    scenario: `${WITHOUT_WAITING}#at-the-deadline-each-kind-of-hook-is-told-that-it-is-forced`,
    mutation: withKubernetes('finalizer', api => ({
      create: (type, manifest) =>
        api.create(type, type.resource === 'snapshots' ? { ...manifest, spec: { forced: false } } : manifest),
    })),
  },
  {
    name: 'hooks-delay-each-by-itself',
    mistake: 'counts the delay of each hook at the deadline, and not that of all of them',
    breaks: ['I5'],
    scenario: `${WITHOUT_WAITING}#hooks-delay-a-forced-end-by-fifteen-seconds-at-most`,
    mutation: hooksSeeing(context => ({
      ...context,
      record() {
        const progress = context.record();
        const hooks = Object.entries(progress.hooks).map(([name, hook]) => {
          const isSpent = hook.phase === 'failed' && hook.attempts > 1;
          return [name, isSpent ? { ...hook, lastSeenTime: hook.firstInvokedTime } : hook] as const;
        });
        return { ...progress, hooks: Object.fromEntries(hooks) };
      },
    })),
  },
  {
    name: 'stopped-instance-waited-for',
    mistake: 'drains a node whose instance is stopped',
    breaks: ['I5'],
    scenario: `${THERE}#a-stopped-instance-is-not-waited-for`,
    mutation: describing(found => (found?.state === 'stopped' ? { ...found, state: 'running' } : found)),
  },
  {
    name: 'deadline-waits-for-settings',
    mistake: 'waits past the deadline until NodePool and policies can be read',
    breaks: ['I5', 'I8', 'I9'],
    seed: 15,
    scenario: 'finalizer-deadline.yaml#settings-that-cannot-be-read-put-no-deadline-off',
    mutation: withKubernetes('finalizer', api => ({
      list: (type, query, options) =>
        api.list(type, query, options).catch((error: unknown) => {
          // Thrown as what is no answer of the API server, it ends the run.
          throw isA('NodeLifecyclePolicy', type) ? new Error(messageOf(error)) : error;
        }),
    })),
  },
  {
    name: 'young-not-found-is-gone',
    mistake: 'takes "not found" of an instance that was just launched for its end',
    breaks: ['I6'],
    scenario: `${THERE}#not-found-is-no-end-of-a-young-instance`,
    mutation: describing(found => found ?? { state: 'terminated' }),
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
    seed: 15,
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
    mutation: withRulesOfFinalizer({
      decideObject: seen => (seen.addsFinalizer ? decideObject(seen) : { kind: 'ignore' }),
    }),
  },
  {
    name: 'released-without-the-ledger',
    mistake: 'takes a finalizer off unclean before the ledger knows of it',
    breaks: ['I9', 'I1'],
    scenario: `${RULES}#what-is-released-unclean-is-in-the-ledger-first`,
    mutation: withRulesOfFinalizer({
      decideObject(seen) {
        const decision = decideObject(seen);
        return decision.kind === 'release' ? { kind: 'free', object: decision.object } : decision;
      },
    }),
  },
  {
    name: 'rule-goes-at-once',
    mistake: 'looks for the last time while somebody may not know of the deletion of a rule',
    breaks: ['I1'],
    scenario: `${RULES}#a-rule-that-is-deleted-stays-for-a-minute`,
    mutation: withListed('finalizer', 'FinalizerRule', object => {
      const { deletionTimestamp, ...metadata } = object.metadata;
      return deletionTimestamp === undefined
        ? object
        : { ...object, metadata: { ...metadata, deletionTimestamp: '2000-01-01T00:00:00Z' } };
    }),
  },
  {
    name: 'rule-goes-by-its-status-alone',
    mistake: 'looks for no object of a rule whose status does not say which they are',
    breaks: ['I5'],
    scenario: `${RULES}#a-rule-whose-resource-was-cleared-waits-for-its-objects`,
    mutation: withKubernetes('finalizer', api => {
      let isAsked = false;
      return {
        async list(type, query, options) {
          const answer = await api.list(type, query, options);
          if (isA('FinalizerRule', type) && answer.kind === 'there') {
            isAsked = answer.objects.some(
              ({ metadata, status }) => metadata.deletionTimestamp !== undefined && status?.['resource'] === undefined,
            );
          }
          return answer;
        },
        resolve: async kind => (isAsked && kind.kind === 'ManagedDatabase' ? undefined : await api.resolve(kind)),
      };
    }),
  },
  {
    name: 'rule-goes-unlooked',
    mistake: 'takes a list of the objects of a deleted rule that fails for an empty one',
    breaks: ['I1', 'I6'],
    scenario: `${RULES}#a-rule-whose-objects-cannot-be-listed-stays-and-says-so`,
    mutation: withKubernetes('finalizer', api => ({
      list: (type, query, options) =>
        type.resource === 'manageddatabases'
          ? api.list(type, query, options).catch(takenForNone)
          : api.list(type, query, options),
    })),
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
