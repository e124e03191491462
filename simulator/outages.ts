/** Parts that cannot be reached for a while: the API server, the bus, the store. To Curfew alone; actors and author go on. */
import { addDuration, toEpochMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import { RetryableError } from '../shared/errors.ts';
import type { RecordKey, RecordStore } from '../shared/ports/record-store.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import { aroundCalls } from '../runtime/around-calls.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { OutagePart } from './scenario/scenario.ts';

/** What disturbs as an outage does, though no call is refused: late messages, functions of an earlier version. */
export type Disturbance = OutagePart | 'deliveries' | 'functions';

export interface Outages {
  begin(part: Disturbance, duration: DurationMs): void;
  isOut(part: OutagePart): boolean;
  anyOut(): boolean;
  /** When the last outage ended; the start of time when there was none. */
  lastEnd(): EpochMs;
  /** Called when an outage of the part begins, with the error that its callers get. */
  onBegin(part: OutagePart, action: (error: Error) => void): void;
  /** Runs the action now, or when the part is back. */
  whenBack(part: OutagePart, action: () => void): void;
  /** A port whose calls are refused (nothing was done) while the part is out. All its methods must return promises. */
  guard<Port extends object>(part: OutagePart, port: Port): Port;
  guardWatch(watch: ClusterWatch): ClusterWatch;
  /** The store, whose writes of the ledger are refused while that is out. */
  guardLedger(records: RecordStore): RecordStore;
}

/** The records of objects and instances that a finalizer of ours stands for. */
const LEDGER = ['object/', 'instance/'];

const refusal = (part: Disturbance): RetryableError =>
  new RetryableError(`connecting to the ${part}: connection refused`, { reason: 'ECONNREFUSED' });

/** Outages of one part may overlap: it is back when the last one ends. */
export function createOutages(scheduler: Scheduler): Outages {
  /** Outages that are on, by part: they may overlap. */
  const running = new Map<Disturbance, number>();
  const listeners: { part: OutagePart; action: (error: Error) => void }[] = [];
  const waiting = new Map<Disturbance, (() => void)[]>();
  const isOut = (part: Disturbance): boolean => (running.get(part) ?? 0) > 0;
  const add = (part: Disturbance, change: number): void => {
    running.set(part, (running.get(part) ?? 0) + change);
  };
  const guard: Outages['guard'] = (part, port) =>
    aroundCalls(port, ({ proceed }) => (isOut(part) ? Promise.reject(refusal(part)) : proceed()));

  const refusesWrite = ({ owner, id }: RecordKey): boolean =>
    isOut('ledger') && owner === 'finalizer' && LEDGER.some(prefix => id.startsWith(prefix));

  let lastEnd = toEpochMs(0);

  return {
    isOut,
    anyOut: () => [...running.keys()].some(isOut),
    lastEnd: () => lastEnd,
    begin(part, duration) {
      add(part, 1);
      scheduler.at(addDuration(scheduler.now(), duration), () => {
        add(part, -1);
        lastEnd = scheduler.now();
        if (!isOut(part)) for (const action of waiting.get(part)?.splice(0) ?? []) action();
      });
      for (const listener of listeners) if (listener.part === part) listener.action(refusal(part));
    },
    onBegin: (part, action) => listeners.push({ part, action }),
    whenBack(part, action) {
      if (!isOut(part)) return action();
      waiting.set(part, [...(waiting.get(part) ?? []), action]);
    },
    guard,
    guardLedger: records => ({
      get: key => records.get(key),
      put: (record, version) =>
        refusesWrite(record) ? Promise.reject(refusal('ledger')) : records.put(record, version),
      delete: (key, version) => (refusesWrite(key) ? Promise.reject(refusal('ledger')) : records.delete(key, version)),
    }),
    guardWatch(watch) {
      const { list, resolve, versionsOf } = guard('api', {
        list: watch.list.bind(watch),
        resolve: watch.resolve.bind(watch),
        versionsOf: watch.versionsOf.bind(watch),
      });
      return {
        list,
        resolve,
        versionsOf,
        watch: (type, options) => (isOut('api') ? failing(refusal('api')) : watch.watch(type, options)),
      };
    },
  };
}

/** A stream that ends at once with an error. */
function failing<T>(error: Error): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
