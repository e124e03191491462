/** Mistakes about what admission policies deny, and about holds that nobody hears of. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { withoutTimer, withPorts, type Mutant } from './mutant.ts';

export const withoutEvents = (name: FunctionName, ...reasons: readonly string[]): Mutation =>
  withPorts(name, ({ events }) => ({
    events: { record: async event => (reasons.includes(event.reason) ? undefined : await events.record(event)) },
  }));

const isRefused = ({ state }: NewRecord): boolean => 'refusals' in state;

/** The function that forgets each refusal of this kind, and tries again with the next look. */
export const forgetting = (name: FunctionName, isMeant: (key: string, refusal: JsonObject) => boolean): Mutation =>
  withRefusals((refusal, key) => (isMeant(key, refusal) ? undefined : refusal), name);

/** What the record remembers of each refusal is changed before it is written; undefined: it is forgotten. */
const withRefusals = (
  change: (refusal: JsonObject, key: string) => JsonObject | undefined,
  name: FunctionName = 'grace-period',
): Mutation =>
  withPorts(name, ({ records }) => ({
    records: {
      get: key => records.get(key),
      put(record, version) {
        const { refusals } = record.state;
        if (!isJsonObject(refusals)) return records.put(record, version);
        const changed = Object.entries(refusals).flatMap(([key, each]) => {
          const next = isJsonObject(each) ? change(each, key) : each;
          return next === undefined ? [] : [[key, next] as const];
        });
        return records.put({ ...record, state: { ...record.state, refusals: Object.fromEntries(changed) } }, version);
      },
      delete: (key, version) => records.delete(key, version),
    },
  }));

export const DENIAL_MUTANTS: readonly Mutant[] = [
  {
    name: 'refused-as-often-as-ever',
    mistake: 'tries a refused change again every minute for ever',
    breaks: ['I8'],
    scenario: 'do-not-disrupt-that-admission-denies.yaml#do-not-disrupt-whose-release-admission-denies',
    mutation: withRefusals(refusal => ({ ...refusal, count: 1 })),
  },
  {
    name: 'refused-and-said-each-time',
    mistake: 'says with each try that a change is refused',
    breaks: ['I8'],
    scenario: 'do-not-disrupt-that-admission-denies.yaml#do-not-disrupt-whose-release-admission-denies',
    mutation: withRefusals(refusal => ({ ...refusal, saidTime: 0 })),
  },
  {
    name: 'refused-in-silence',
    mistake: 'does not say on a Node that its change is refused',
    breaks: ['I6'],
    scenario: 'do-not-disrupt-that-admission-denies.yaml#do-not-disrupt-whose-release-admission-denies',
    mutation: withoutEvents('grace-period', EVENT_REASONS.nodeChangeRefused),
  },
  {
    name: 'refused-and-given-up',
    mistake: 'does not try a change of a Node again that was refused',
    breaks: ['I5'],
    scenario: 'do-not-disrupt-that-admission-denies.yaml#do-not-disrupt-whose-release-admission-denies',
    mutation: withPorts('grace-period', ({ records }) => ({
      records: {
        get: key => records.get(key),
        put: (record, version) => records.put(isRefused(record) ? withoutTimer(record) : record, version),
        delete: (key, version) => records.delete(key, version),
      },
      // What the record forgets no message reminds of.
      wakeUps: { send: async () => undefined },
    })),
  },
  {
    name: 'refused-evictions-as-often-as-ever',
    mistake: 'asks every minute for an eviction that is refused',
    breaks: ['I8'],
    scenario: 'refused-pods-and-instances.yaml#drain-whose-eviction-is-refused',
    mutation: forgetting('drain', key => key.startsWith('evict pod ')),
  },
  {
    name: 'missing-permission-asked-for-by-every-pod',
    mistake: 'asks for the eviction of each pod, although the permission to evict is missing',
    breaks: ['I8'],
    scenario: 'refused-pods-and-instances.yaml#drain-without-the-permission-to-evict',
    mutation: forgetting('drain', (_, { cause }) => cause === 'permission'),
  },
  {
    name: 'evictions-that-find-no-pod-uncounted',
    mistake: 'takes a pod for gone that the API server lists and answers 404 for',
    breaks: ['I8'],
    scenario: 'refused-pods-and-instances.yaml#drain-of-a-pod-that-the-api-server-denies-to-know',
    mutation: forgetting('drain', key => key.startsWith('evict pod ')),
  },
  {
    name: 'refused-forced-deletions-as-often-as-ever',
    mistake: 'deletes a pod every minute whose deletion is refused',
    breaks: ['I8'],
    scenario: 'refused-pods-and-instances.yaml#termination-whose-forced-deletion-is-refused',
    mutation: withRefusals(refusal => ({ ...refusal, count: 1 }), 'finalizer'),
  },
  {
    name: 'held-in-silence',
    mistake: 'does not say on a Node that a guard or a veto holds its repair',
    breaks: ['I6'],
    seed: 81,
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-removed',
    mutation: withoutEvents('repair', EVENT_REASONS.nodeRepairBlocked, EVENT_REASONS.nodeRepairVetoed),
  },
];
