/** Mistakes about rules, NodePools and names that settings of terminations and rules rest on. */
import { addDuration, hours } from '../../shared/domain/time.ts';
import { isA, methodsOf, original, withKubernetes, withPorts, withRecords, type Mutant } from './mutant.ts';

const RULES = 'finalizer-rules-that-do-not-clean-up.yaml';
const WITHOUT_WAITING = 'finalizer-hooks-nobody-waits-for.yaml';
const KARPENTERS = 'karpenter.sh/termination';
const OF_KUBERNETES = 'kubernetes.io/pvc-protection';

/** The same with another text in place of one. */
const replaced = <Value>(value: Value, from: string, to: string): Value =>
  JSON.parse(JSON.stringify(value).replaceAll(from, to)) as Value;

export const FINALIZER_SETTINGS_MUTANTS: readonly Mutant[] = [
  {
    name: 'rule-needs-its-status',
    mistake: 'looks after no object of a rule whose status somebody emptied',
    breaks: ['I5'],
    scenario: `${RULES}#a-rule-whose-status-was-emptied-goes-on`,
    mutation: withKubernetes('finalizer', api => ({
      resolve: async kind => (kind.kind === 'ManagedDatabase' ? undefined : await api.resolve(kind)),
    })),
  },
  {
    name: 'end-of-a-rule-goes-unheard',
    mistake: 'does not look at the objects of a rule when its kind is watched no more',
    breaks: ['I9'],
    scenario: `${RULES}#a-finalizer-whose-rule-is-gone-is-said`,
    mutation: {
      reconcilers: {
        finalizer: deps => async message =>
          message.kind === 'customResource' && message.event.resync === true
            ? undefined
            : original('finalizer')(deps)(message),
      },
    },
  },
  {
    name: 'deletion-without-a-rule-seen-late',
    mistake: 'looks once a day for the deletion of an object whose rule is gone',
    breaks: ['I5'],
    scenario: `${RULES}#a-finalizer-whose-rule-is-gone-is-said`,
    mutation: withPorts('finalizer', ({ records, wakeUps }) => ({
      wakeUps: { send: sent => wakeUps.send(sent.filter(({ wakeUp }) => wakeUp.subject.kind !== 'ManagedDatabase')) },
      records: {
        get: key => records.get(key),
        delete: (key, version) => records.delete(key, version),
        put: (record, version) =>
          JSON.stringify(record.state).includes('withoutRule') && record.nextWakeTime !== undefined
            ? records.put({ ...record, nextWakeTime: addDuration(record.nextWakeTime, hours(24)) }, version)
            : records.put(record, version),
      },
    })),
  },
  {
    name: 'finalizer-of-kubernetes-taken',
    mistake: 'takes the name of a finalizer of Kubernetes for that of a rule',
    breaks: ['I7'],
    scenario: `${RULES}#a-finalizer-of-kubernetes-is-left-alone`,
    mutation: withKubernetes('finalizer', api => {
      const named = 'example.com/pvc-protection';
      return {
        get: async ref => replaced(await api.get(ref), OF_KUBERNETES, named),
        list: async (type, query, options) => replaced(await api.list(type, query, options), OF_KUBERNETES, named),
        patch: (ref, patch, options) => api.patch(ref, replaced(patch, named, OF_KUBERNETES), options),
      };
    }),
  },
  {
    name: 'replace-is-believed',
    mistake: 'takes builtin: Replace for in force wherever a policy says it',
    breaks: ['I8'],
    scenario: `${WITHOUT_WAITING}#replace-that-is-not-in-force-is-said`,
    mutation: withKubernetes('finalizer', api => ({
      async patch(ref, patch, options) {
        const outcome = await api.patch(ref, patch, options);
        const isProbe = isA('NodeClaim', ref.type) && !JSON.stringify(patch).includes('finalizers');
        return isProbe && outcome.kind === 'ok' ? replaced(outcome, KARPENTERS, 'example.com/custom') : outcome;
      },
    })),
  },
  {
    name: 'pool-of-admission-forgotten',
    mistake: 'remembers no NodePool whose finalizers came by admission',
    breaks: ['I5'],
    scenario: `${WITHOUT_WAITING}#a-node-pool-whose-finalizers-came-by-admission-is-remembered`,
    mutation: withRecords('finalizer', records => ({
      put: async (record, version) =>
        record.id.startsWith('known-pool/')
          ? { kind: 'written', record: { ...record, version: version + 1 } }
          : await records.put(record, version),
    })),
  },
  {
    name: 'pool-that-went-forgotten',
    mistake: 'forgets what a NodePool had said when it goes, although some of its nodes are left',
    breaks: ['I12'],
    seed: 51,
    mutation: {
      reconcilers: {
        finalizer: deps => message => {
          const { kubernetes } = deps;
          const isOfPool = message.kind === 'clusterEvent' && message.event.subject.kind === 'NodePool';
          const list: typeof kubernetes.list = async (type, query, options) =>
            query?.labelSelector?.startsWith('karpenter.sh/nodepool=') === true
              ? { kind: 'there', objects: [] }
              : await kubernetes.list(type, query, options);
          const seen = isOfPool ? { ...deps, kubernetes: { ...methodsOf(kubernetes), list } } : deps;
          return original('finalizer')(seen)(message);
        },
      },
    },
  },
];
