/** Mistakes in the clean-ups of FinalizerRules. */
import { reserveCallTime } from '../../functions/finalizer/objects/rule/call-queue.ts';
import { decide as decideObject } from '../../functions/finalizer/objects/decide.ts';
import { createReconciler } from '../../functions/finalizer/route.ts';
import { addDuration, hours, toDurationMs } from '../../shared/domain/time.ts';
import { isA, withRulesOfFinalizer, withKubernetes, withPorts, withRecords, type Mutant } from './mutant.ts';

export const FINALIZER_RULE_MUTANTS: readonly Mutant[] = [
  {
    name: 'refusal-lost-with-the-next-try',
    mistake: 'forgets that a finalizer was refused when it notes down the next try',
    breaks: ['I8'],
    seed: 4081,
    mutation: withRecords('finalizer', records => ({
      put({ state: { refusals, ...state }, ...record }, version) {
        const isKept = refusals !== undefined && (state['phase'] !== 'held' || 'message' in state);
        return records.put({ ...record, state: isKept ? { ...state, refusals } : state }, version);
      },
    })),
  },
  {
    name: 'place-by-a-later-clock',
    mistake: 'reckons the place of a clean-up from a later time than that of the look, and so is never there in time',
    breaks: ['I8'],
    scenario: 'finalizer-rule.yaml#a-clean-up-runs-before-the-object-goes',
    callDuration: toDurationMs(7),
    mutation: {
      reconcilers: {
        finalizer: deps =>
          createReconciler(deps, {
            reserveCallTime: (queue, own, rate) => reserveCallTime(queue, own, rate, deps.clock.now()),
          }),
      },
    },
  },
  {
    name: 'objects-wait-for-their-rule',
    mistake: 'puts a finalizer on nothing while the rule must not carry one of its own',
    breaks: ['I11'],
    scenario: 'finalizer-rule-that-admission-denies.yaml#finalizer-rule-whose-own-finalizer-admission-denies',
    // Nothing tells that it was refused: the record of the rule is not kept.
    mutation: withRecords('finalizer', records => ({
      put: async (record, version) =>
        record.id.startsWith('rule/') ? { kind: 'lostRace' } : await records.put(record, version),
    })),
  },
  {
    name: 'rule-never-goes',
    mistake: 'keeps a FinalizerRule that is deleted for good',
    breaks: ['I5'],
    seed: 17,
    mutation: withKubernetes('finalizer', api => ({
      async patch(ref, patch, options) {
        const seen = isA('FinalizerRule', ref) && options?.subresource === undefined ? await api.get(ref) : undefined;
        const rule = seen?.kind === 'there' ? seen.object : undefined;
        const isEnd = rule?.metadata.deletionTimestamp !== undefined && JSON.stringify(patch).includes('"finalizers":');
        return rule !== undefined && isEnd ? { kind: 'ok', object: rule } : await api.patch(ref, patch, options);
      },
    })),
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
    mutation: withRulesOfFinalizer({
      decideObject: seen => decideObject({ ...seen, rule: { ...seen.rule, onDeadline: 'Release' } }),
    }),
  },
  {
    name: 'finalizer-cleanup-without-intent',
    mistake: 'calls a clean-up before it has noted that down',
    breaks: ['I4', 'I1'],
    seed: 5,
    mutation: withRulesOfFinalizer({
      decideObject: seen => {
        const decision = decideObject(seen);
        if (decision.kind !== 'intend') return decision;
        return seen.entry === undefined ? { kind: 'ignore' } : { kind: 'call', entry: seen.entry };
      },
    }),
  },
  {
    name: 'finalizer-gives-up-a-cleanup',
    mistake: 'does not try a clean-up again that has failed twice',
    breaks: ['I5'],
    scenario: 'finalizer-rule.yaml#a-failed-clean-up-keeps-the-finalizer',
    mutation: withRulesOfFinalizer({
      decideObject: seen => {
        const decision = decideObject(seen);
        const { entry, now } = seen;
        if (decision.kind !== 'intend' || entry?.phase !== 'failed' || entry.attempts < 2) return decision;
        return { kind: 'wait', entry, until: addDuration(now, hours(6)), isOverdue: false };
      },
    }),
  },
  {
    name: 'ledger-forgets-the-stripped',
    mistake: 'closes the entry of an object that went without its clean-up',
    breaks: ['I1', 'I9'],
    scenario: 'finalizer-rule.yaml#a-finalizer-stripped-by-hand-is-noticed',
    mutation: withRulesOfFinalizer({
      decideObject(observation) {
        const decision = decideObject(observation);
        return decision.kind === 'orphan' ? { kind: 'close' } : decision;
      },
    }),
  },
];
