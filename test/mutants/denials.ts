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

/** What the record remembers of each refusal is changed before it is written. */
const withRefusals = (change: (refusal: JsonObject) => JsonObject): Mutation =>
  withPorts('grace-period', ({ records }) => ({
    records: {
      get: key => records.get(key),
      put(record, version) {
        const { refusals } = record.state;
        if (!isJsonObject(refusals)) return records.put(record, version);
        const changed = Object.entries(refusals).map(([key, each]) => [key, isJsonObject(each) ? change(each) : each]);
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
    name: 'held-in-silence',
    mistake: 'does not say on a Node that a guard or a veto holds its repair',
    breaks: ['I6'],
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-removed',
    mutation: withoutEvents('repair', EVENT_REASONS.nodeRepairBlocked, EVENT_REASONS.nodeRepairVetoed),
  },
];
