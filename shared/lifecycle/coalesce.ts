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
import {
  ALL,
  type RoundRequest,
  roundRequestOf,
  isEmpty,
  join,
  nextTurn,
  type NextTurn,
  type RoundState,
  textOf,
} from './next-round.ts';
import { checkedCodec, type LoadedRecord, throwIfNewer, type RecordCodec } from './record-codec.ts';
import { DONE, settle, type Turn } from './settle.ts';
import { openRecord, updateRecord, doneIfWritten, type RecordToSave, type UsedWakeUp } from './timed-record.ts';
import type { WakeUpRoute } from './wake-up-route.ts';

/** After this many lost races a run asks for everything: one such run covers all waiting requests. */
const LOST_BEFORE_ALL = 2;

export interface CoalescedWork {
  readonly owner: FunctionName;
  /** Tells the coalescers of one function apart. */
  readonly name: string;
  /** The least time between two runs. */
  readonly spacing: DurationMs;
  /** Answers how long the next run waits. */
  readonly run: (requests: readonly RoundRequest[]) => Promise<RoundAnswer>;
}

/** Wait until the next run. `retryAfter`: nothing could be done, and the next run gets the same requests. */
export type RoundAnswer = DurationMs | { readonly retryAfter: DurationMs };

export interface Coalescer extends WakeUpRoute {
  /** Answers whether this call made a run. */
  request(...requests: readonly RoundRequest[]): Promise<boolean>;
  timerDue(wakeUp: UsedWakeUp): Promise<void>;
}

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/** The kind in the subject of a record that is about no object of the cluster, as a coalescer's. */
export const ROUND_KIND = 'Round';
const subjectOf = (name: string): Subject => ({ apiVersion: 'curfew.dev/v1alpha1', kind: ROUND_KIND, name });

/** A run that fails throws; the next request repeats what it was to do, or the timer of its record after `RUN_ENDS_WITHIN`. */
export function createCoalescer(deps: Deps, work: CoalescedWork): Coalescer {
  const run = async (requested: readonly RoundRequest[], wakeUp?: UsedWakeUp): Promise<boolean> => {
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
    request: (...requests) => run(requests),
    takes: ({ apiVersion, kind, name }) =>
      kind === ROUND_KIND && name === work.name && apiVersion === subjectOf(name).apiVersion,
    async timerDue(wakeUp) {
      if (await openRecord(deps, roundCodec(work.owner), recordId(work), wakeUp).isWakeUpSuperseded()) return;
      await run([], wakeUp);
    },
  };
}

/** Claims the run for this caller, and answers its state; undefined: no run is made here, and the requests wait in the record. */
async function claim(
  deps: Deps,
  work: CoalescedWork,
  requested: readonly RoundRequest[],
  wakeUp: UsedWakeUp | undefined,
): Promise<RoundState | undefined> {
  const timedRecord = openRecord(deps, roundCodec(work.owner), recordId(work), wakeUp);
  const subject = subjectOf(work.name);
  const isDroppable = requested.every(({ kind }) => kind !== 'message');
  let claimed: RoundState | undefined;
  let requests = requested;
  let lostRaces = 0;
  const save = async (wanted: RecordToSave<RoundState>): Promise<Turn> => {
    const saved = await timedRecord.save(wanted);
    if (!saved.written) {
      lostRaces += 1;
      if (lostRaces >= LOST_BEFORE_ALL && !isEmpty(requested)) requests = join([ALL], requested);
    }
    return doneIfWritten(saved);
  };
  await settle<LoadedRecord<RoundState>, NextTurn>({
    what: whatOf(work),
    observe: async () => ({ kind: 'here', observation: await timedRecord.load() }),
    decide: found => {
      if (found.kind === 'newer' && isDroppable) return { kind: 'nothing' };
      const loaded = throwIfNewer(found, whatOf(work));
      const round = loaded.kind === 'known' ? { ...loaded.value, armed: loaded.stored.nextWakeTime } : undefined;
      return nextTurn(round, requests, deps.clock.now());
    },
    async apply(turn) {
      switch (turn.kind) {
        case 'nothing':
          return DONE;
        case 'close':
          return timedRecord.release();
        case 'wait':
          return save({
            subject,
            value: turn.state,
            wakeTime: turn.wakeTime,
            hasOwnMessage: turn.hasOwnMessage,
          });
        case 'begin': {
          const now = deps.clock.now();
          const round: RoundState = { waiting: [], underWay: turn.requests, nextTime: addDuration(now, work.spacing) };
          const saved = await save({
            subject,
            value: round,
            wakeTime: addDuration(now, RUN_ENDS_WITHIN),
            hasOwnMessage: false,
          });
          if (saved.kind === 'done') claimed = round;
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
 * @param wait until the next run; undefined: this one failed, and its requests wait again
 */
async function conclude(deps: Deps, work: CoalescedWork, claimed: RoundState, wait?: RoundAnswer): Promise<void> {
  const timedRecord = openRecord(deps, roundCodec(work.owner), recordId(work));
  await updateRecord(whatOf(work), timedRecord, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    const round = loaded.value;
    const isStillOurs = !isEmpty(round.underWay) && round.nextTime === claimed.nextTime;
    if (!isStillOurs) return DONE;
    const now = deps.clock.now();
    const hasFailed = wait === undefined;
    const isCarriedOut = typeof wait === 'number';
    const spacing = typeof wait === 'object' ? wait.retryAfter : (wait ?? work.spacing);
    const nextTime = addDuration(now, spacing);
    const waiting = isCarriedOut ? round.waiting : join(round.waiting, claimed.underWay);
    const saved = await timedRecord.save({
      subject: subjectOf(work.name),
      value: { waiting, underWay: [], nextTime },
      wakeTime: hasFailed ? addDuration(now, RUN_ENDS_WITHIN) : nextTime,
      // Nobody waits: the end of the spacing closes the record, for which the sweep is in time.
      hasOwnMessage: !hasFailed && !isEmpty(waiting),
    });
    return doneIfWritten(saved);
  });
}

const whatOf = ({ owner, name }: CoalescedWork): string => `${owner} round ${name}`;
const recordId = ({ name }: CoalescedWork): string => `round/${name}`;

const stored = z.union([z.literal('all'), z.array(z.string())]);
const schema = z.object({ waiting: stored, underWay: stored, nextTime: instant });

const roundRequestsOf = (texts: z.output<typeof stored>): readonly RoundRequest[] =>
  texts === 'all' ? [ALL] : texts.map(roundRequestOf);
const textsOf = (requests: readonly RoundRequest[]): z.output<typeof stored> =>
  requests.length === 1 && requests[0]?.kind === 'all' ? 'all' : requests.map(textOf);

/** The codec of the records of a function's coalescers. */
export function roundCodec(owner: FunctionName): RecordCodec<RoundState> {
  const codec = checkedCodec(owner, schema, 1);
  return {
    ...codec,
    parse(state) {
      const texts = codec.parse(state);
      return { ...texts, waiting: roundRequestsOf(texts.waiting), underWay: roundRequestsOf(texts.underWay) };
    },
    toState: value => codec.toState({ ...value, waiting: textsOf(value.waiting), underWay: textsOf(value.underWay) }),
  };
}
