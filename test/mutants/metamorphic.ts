/** Mistakes that no run shows alone: two runs that must be alike are not. */
import { RECONCILERS } from '../../runtime/functions.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import { minutes, seconds, toEpochMs, type DurationMs } from '../../shared/domain/time.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { hearing } from './drain-events.ts';
import { withKubernetes, withPorts, type Mutant } from './mutant.ts';
import { TIMER_MUTANTS } from './timer.ts';

/** The function that does not look at messages which `isSkipped` says it need not. */
function withoutMessages(name: FunctionName, isSkipped: (message: InboxMessage, now: number) => boolean): Mutation {
  return {
    reconcilers: {
      [name]: (deps: Parameters<(typeof RECONCILERS)[FunctionName]>[0]) => {
        const reconcile = RECONCILERS[name](deps);
        return async (message: InboxMessage) => {
          if (!isSkipped(message, deps.clock.now())) await reconcile(message);
        };
      },
    },
  };
}

/** Skips a cluster event about what it heard of less than that long ago. */
function deafFor(name: FunctionName, time: DurationMs): Mutation {
  const heard = new Map<string, number>();
  return withoutMessages(name, (message, now) => {
    if (message.kind !== 'clusterEvent') return false;
    const key = `${message.event.subject.kind} ${message.event.subject.name}`;
    const last = heard.get(key);
    // Two runs of one test share this: what is ahead is of another run.
    const isSkipped = last !== undefined && now >= last && now - last < time;
    if (!isSkipped) heard.set(key, now);
    return isSkipped;
  });
}

/** Drops what was observed before the newest that it has heard of anything. */
function hearingInOrder(name: FunctionName): Mutation {
  const newest = { observed: '', heard: 0 };
  return withoutMessages(name, (message, now) => {
    if (message.kind !== 'clusterEvent') return false;
    // Another run has begun.
    if (now < newest.heard) newest.observed = '';
    newest.heard = now;
    const { observedTime } = message.event;
    if (observedTime < newest.observed) return true;
    newest.observed = observedTime;
    return false;
  });
}

const QUARTER = minutes(15);
const LONGEST_NAME = 40;

export const METAMORPHIC_MUTANTS: readonly Mutant[] = [
  {
    name: 'drain-reads-the-clock-in-quarters',
    mistake: 'takes each time for the quarter of an hour before it',
    breaks: [],
    property: 'another-day',
    mutation: withPorts('drain', ({ clock }) => ({
      clock: { ...clock, now: () => toEpochMs(Math.floor(clock.now() / QUARTER) * QUARTER) },
    })),
  },
  {
    name: 'grace-period-cuts-names',
    mistake: 'knows nodes by the first forty characters of their names',
    breaks: [],
    property: 'other-names',
    mutation: withKubernetes('grace-period', api => ({
      get: ref => api.get({ ...ref, name: ref.name.slice(0, LONGEST_NAME) }),
    })),
  },
  {
    name: 'drain-takes-each-delivery-for-news',
    mistake: 'takes an event that comes again for another one',
    breaks: [],
    property: 'twice',
    mutation: {
      reconcilers: {
        drain: deps => {
          const reconcile = RECONCILERS.drain(deps);
          return message => {
            if (message.kind !== 'busEvent') return reconcile(message);
            return reconcile({ ...message, detail: { ...message.detail, id: `e-${deps.clock.now()}` } });
          };
        },
      },
    },
  },
  {
    name: 'finalizer-hears-in-order',
    mistake: 'drops news that is older than the last, whatever that was about',
    breaks: [],
    property: 'out-of-order',
    mutation: hearingInOrder('finalizer'),
  },
  {
    name: 'repair-deaf-to-the-second-change',
    mistake: 'does not look at a node again that it has looked at a moment ago',
    breaks: [],
    property: 'in-two-steps',
    mutation: deafFor('repair', seconds(10)),
  },
  {
    name: 'drain-by-news-of-neighbours',
    mistake: 'does not read which cluster an event is from',
    breaks: [],
    property: 'neighbours',
    mutation: hearing(message => ({ ...message, detail: { ...message.detail, cluster: undefined } })),
  },
  {
    name: 'wake-ups-told-once',
    mistake: 'looks for what becomes due, and never again for what was told',
    breaks: [],
    property: 'lost-hints',
    mutation: TIMER_MUTANTS.find(({ name }) => name === 'timer-forgets-the-overdue')?.mutation ?? {},
  },
  {
    name: 'drain-keeps-its-records-in-memory',
    mistake: 'keeps what it promised in memory, where the next environment does not find it',
    breaks: [],
    property: 'restarts',
    mutation: withPorts('drain', ({ records }) => {
      const memory = new Map<string, StoredRecord>();
      const nameOf = ({ owner, id }: Pick<StoredRecord, 'owner' | 'id'>): string => `${owner} ${id}`;
      return {
        records: {
          get: key => Promise.resolve(memory.get(nameOf(key))),
          async put(record, version) {
            const outcome = await records.put(record, version);
            if (outcome.kind === 'written') memory.set(nameOf(record), outcome.record);
            return outcome;
          },
          async delete(key, version) {
            memory.delete(nameOf(key));
            return await records.delete(key, version);
          },
        },
      };
    }),
  },
];
