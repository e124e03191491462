/**
 * One run at a time per key: a burst of requests costs one run at once and one per `spacing` after it. Nothing is lost: what is asked for
 * while a run is at work waits in the record, whose timer brings the next run after one that dies.
 *
 * ```
 *   request ──▶ claim (underWay) ──▶ work ──▶ record: not before nextTime again
 *      └─ another run is at work, or was a moment ago: `waiting` ──▶ timer of the record ──▶ claim
 * ```
 */
import type { FunctionName } from '../contract/names.ts';
import { instant } from '../contract/instant.ts';
import type { Subject } from '../contract/subject.ts';
import * as z from '../contract/zod.ts';
import { RUN_ENDS_WITHIN } from '../domain/run-end.ts';
import { addDuration, type DurationMs } from '../domain/time.ts';
import { joinFailures } from '../errors.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { ALL, type Ask, askOf, isEmpty, join, nextTurn, type NextTurn, type RoundState, textOf } from './next-round.ts';
import { checkedCodec, type LoadedRecord, throwIfNewer, type RecordCodec } from './record-codec.ts';
import { DONE, settle, type Turn } from './settle.ts';
import { openRecord, updateRecord, doneIfWritten, type UsedWakeUp } from './timed-record.ts';
import type { WakeUpRoute } from './wake-up-route.ts';

/** After this many lost races a run asks for everything: one such run covers all waiting requests. */
const LOST_BEFORE_ALL = 2;

export interface Work {
  readonly owner: FunctionName;
  /** Tells the coalescers of one function apart. */
  readonly name: string;
  /** The least time between two runs. */
  readonly spacing: DurationMs;
  /** Answers how long the next run waits. */
  readonly run: (asks: readonly Ask[]) => Promise<RoundAnswer>;
}

/** Wait until the next run. `askAgainAfter`: nothing could be done, and the next run gets the same asks. */
export type RoundAnswer = DurationMs | { readonly askAgainAfter: DurationMs };

export interface Coalescer extends WakeUpRoute {
  /** Answers whether this call made a run. */
  request(...asks: readonly Ask[]): Promise<boolean>;
  timerDue(wakeUp: UsedWakeUp): Promise<void>;
}

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/** The kind in the subject of a record that is about no object of the cluster, as a coalescer's. */
export const ROUND_KIND = 'Round';
const subjectOf = (name: string): Subject => ({ apiVersion: 'curfew.dev/v1alpha1', kind: ROUND_KIND, name });

/** A run that fails throws; the next request repeats what it was to do, or the timer of its record after `RUN_ENDS_WITHIN`. */
export function createCoalescer(deps: Deps, work: Work): Coalescer {
  const run = async (requested: readonly Ask[], wakeUp?: UsedWakeUp): Promise<boolean> => {
    const claimed = await claim(deps, work, requested, wakeUp);
    if (claimed === undefined) return false;
    const wait = await work.run(claimed.underWay).catch(async (error: unknown) => {
      // Where even this fails, the timer of the record ends the run.
      const [concluded] = await Promise.allSettled([conclude(deps, work, claimed)]);
      throw joinFailures(concluded.status === 'rejected' ? [error, concluded.reason] : [error]);
    });
    await conclude(deps, work, claimed, wait);
    return true;
  };
  return {
    request: (...asks) => run(asks),
    takes: ({ apiVersion, kind, name }) =>
      kind === ROUND_KIND && name === work.name && apiVersion === subjectOf(name).apiVersion,
    async timerDue(wakeUp) {
      if (await openRecord(deps, roundCodec(work.owner), recordId(work), wakeUp).isWakeUpSuperseded()) return;
      await run([], wakeUp);
    },
  };
}

/** Claims the run for this caller, and answers its state; undefined: no run is made here, and the asks wait in the record. */
async function claim(
  deps: Deps,
  work: Work,
  requested: readonly Ask[],
  wakeUp: UsedWakeUp | undefined,
): Promise<RoundState | undefined> {
  const [record, subject] = [openRecord(deps, roundCodec(work.owner), recordId(work), wakeUp), subjectOf(work.name)];
  let claimed: RoundState | undefined;
  let [asked, lost] = [requested, 0];
  const save = async (wanted: Parameters<typeof record.save>[0]): Promise<Turn> => {
    const saved = await record.save(wanted);
    if (!saved.written && ++lost >= LOST_BEFORE_ALL && !isEmpty(requested)) asked = join([ALL], requested);
    return doneIfWritten(saved);
  };
  await settle<LoadedRecord<RoundState>, NextTurn>({
    what: whatOf(work),
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: found => {
      if (found.kind === 'newer' && requested.every(({ kind }) => kind !== 'message')) return { kind: 'nothing' };
      const loaded = throwIfNewer(found, whatOf(work));
      const now = deps.clock.now();
      return loaded.kind === 'none'
        ? nextTurn(undefined, asked, now)
        : nextTurn({ ...loaded.value, armed: loaded.stored.nextWakeTime }, asked, now);
    },
    async apply(turn) {
      switch (turn.kind) {
        case 'nothing':
          return DONE;
        case 'close':
          return record.release();
        case 'wait':
          return save({ subject, value: turn.state, wakeTime: turn.wakeTime, punctual: turn.punctual });
        case 'begin': {
          const now = deps.clock.now();
          const value = { waiting: [], underWay: turn.asks, nextTime: addDuration(now, work.spacing) };
          const wakeTime = addDuration(now, RUN_ENDS_WITHIN);
          const saved = await save({ subject, value, wakeTime, punctual: false });
          if (saved.kind === 'done') claimed = value;
          return saved;
        }
      }
    },
  });
  return claimed;
}

/**
 * Ends the run in the record, unless another run took it for dead and has claimed it since: the timer of that one counts.
 *
 * @param wait until the next run; undefined: this one failed, and its asks wait again
 */
async function conclude(deps: Deps, work: Work, claimed: RoundState, wait?: RoundAnswer): Promise<void> {
  const record = openRecord(deps, roundCodec(work.owner), recordId(work));
  await updateRecord(whatOf(work), record, async loaded => {
    if (loaded.kind !== 'known' || isEmpty(loaded.value.underWay) || loaded.value.nextTime !== claimed.nextTime)
      return DONE;
    const now = deps.clock.now();
    const nextTime = addDuration(now, typeof wait === 'object' ? wait.askAgainAfter : (wait ?? work.spacing));
    const waiting = typeof wait === 'number' ? loaded.value.waiting : join(loaded.value.waiting, claimed.underWay);
    const wakeTime = wait === undefined ? addDuration(now, RUN_ENDS_WITHIN) : nextTime;
    // Nobody waits: the end of the spacing closes the record, for which the sweep is in time.
    const punctual = wait !== undefined && !isEmpty(waiting);
    const value = { waiting, underWay: [], nextTime };
    return doneIfWritten(await record.save({ subject: subjectOf(work.name), value, wakeTime, punctual }));
  });
}

const whatOf = ({ owner, name }: Work): string => `${owner} round ${name}`;
const recordId = ({ name }: Work): string => `round/${name}`;

const stored = z.union([z.literal('all'), z.array(z.string())]);
const schema = z.object({ waiting: stored, underWay: stored, nextTime: instant });

const asksOf = (texts: z.output<typeof stored>): readonly Ask[] => (texts === 'all' ? [ALL] : texts.map(askOf));
const textsOf = (asks: readonly Ask[]): z.output<typeof stored> =>
  asks.length === 1 && asks[0]?.kind === 'all' ? 'all' : asks.map(textOf);

/** The codec of the records of a function's coalescers. */
export function roundCodec(owner: FunctionName): RecordCodec<RoundState> {
  const codec = checkedCodec(owner, schema, 1);
  return {
    ...codec,
    parse(state) {
      const texts = codec.parse(state);
      return { ...texts, waiting: asksOf(texts.waiting), underWay: asksOf(texts.underWay) };
    },
    toState: value => codec.toState({ ...value, waiting: textsOf(value.waiting), underWay: textsOf(value.underWay) }),
  };
}
