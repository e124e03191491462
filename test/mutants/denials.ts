/** Mistakes about what admission policies deny, and about holds that nobody hears of. */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { withoutTimer, withPorts, type Mutant } from './mutant.ts';

const withoutEvents = (name: FunctionName, ...reasons: readonly string[]): Mutation =>
  withPorts(name, ({ events }) => ({
    events: { record: async event => (reasons.includes(event.reason) ? undefined : await events.record(event)) },
  }));

const isRefused = ({ state }: NewRecord): boolean => 'refusals' in state;

export const DENIAL_MUTANTS: readonly Mutant[] = [
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
