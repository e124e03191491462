/**
 * Mistakes in how a record is kept that show only when two runs meet, as a change of the ports that a run is given: they can be put into
 * every function that keeps its records with `shared/lifecycle`.
 */
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { RecordStore, StoredRecord } from '../../shared/ports/record-store.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import { methodsOf } from './mutant.ts';

type Ports = Pick<FunctionDeps, 'records' | 'kubernetes' | 'clock'>;

export interface ExplorerMutant {
  readonly name: string;
  /** What the mistake is, in words. */
  readonly mistake: string;
  /** The rule of `shared/lifecycle/timed-record.ts` that it breaks. */
  readonly breaks: 'T2' | 'T3' | 'T4';
  /** Anew for each message. */
  readonly change: (ports: Ports) => Partial<Ports>;
}

/** The function with that mistake. */
export function mutated(reconciler: ReconcilerFactory, { change }: ExplorerMutant): ReconcilerFactory {
  return deps => message => reconciler({ ...deps, ...change(deps) })(message);
}

const CLOSING = 'closing';

const methodsOfStore = (records: RecordStore): RecordStore => ({
  get: key => records.get(key),
  put: (record, version) => records.put(record, version),
  delete: (key, version) => records.delete(key, version),
});

function withoutMark(record: StoredRecord | undefined): StoredRecord | undefined {
  if (record === undefined) return undefined;
  const { [CLOSING]: _, ...state } = record.state;
  return { ...record, state };
}

/** Answers to reads, given again once `isBlind`. */
function remembering(kubernetes: KubernetesApi, isBlind: () => boolean): KubernetesApi {
  const answers = new Map<string, Promise<unknown>>();
  const read = <Answer>(question: unknown, ask: () => Promise<Answer>): Promise<Answer> => {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    // The same question has an answer of the same type.
    if (isBlind() && known !== undefined) return known as Promise<Answer>;
    const answer = ask();
    answers.set(key, answer);
    return answer;
  };
  return {
    ...methodsOf(kubernetes),
    get: ref => read(['get', ref], () => kubernetes.get(ref)),
    list: (type, query, options) => read(['list', type, query], () => kubernetes.list(type, query, options)),
  };
}

export const EXPLORER_MUTANTS: readonly ExplorerMutant[] = [
  {
    name: 'closes-in-one-turn',
    mistake: 'deletes a record as soon as it is not needed, without marking it and looking again',
    breaks: 'T3',
    change: ({ records, kubernetes }) => {
      let isBlind = false;
      return {
        kubernetes: remembering(kubernetes, () => isBlind),
        records: {
          ...methodsOfStore(records),
          async put(record, version) {
            if (record.state[CLOSING] === undefined) return records.put(record, version);
            const outcome = await records.delete(record, version);
            isBlind = outcome.kind === 'deleted';
            return outcome.kind === 'lostRace'
              ? outcome
              : { kind: 'written', record: { ...record, version: version + 1 } };
          },
        },
      };
    },
  },
  {
    name: 'trusts-a-marked-record',
    mistake: 'takes a record that another run is closing for unchanged',
    breaks: 'T2',
    change: ({ records }) => ({
      records: { ...methodsOfStore(records), get: async key => withoutMark(await records.get(key)) },
    }),
  },
  {
    name: 'puts-off-without-a-look',
    mistake: 'puts a timer off and does not look again',
    breaks: 'T4',
    change: ({ records, kubernetes, clock }) => {
      let isBlind = false;
      let armed: number | undefined;
      return {
        kubernetes: remembering(kubernetes, () => isBlind),
        records: {
          ...methodsOfStore(records),
          async get(key) {
            const record = await records.get(key);
            armed = record?.nextWakeTime;
            return record;
          },
          async put(record, version) {
            const { nextWakeTime = Infinity } = record;
            if (armed !== undefined && armed > clock.now() && armed < nextWakeTime) isBlind = true;
            return records.put(record, version);
          },
        },
      };
    },
  },
];
