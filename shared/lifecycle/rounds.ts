/**
 * Rounds: one change concerns many objects, such as a policy that a hundred pools share. A round finds out which, and wakes them. A
 * burst of changes costs one round at once and one per `spacing` after it; its wake-ups are spread, and the next round begins only
 * when they are over, so that each object is woken at most once in that time. Nothing is lost: what is asked for while a round is at
 * work waits in the record, whose timer brings the next run after one that dies.
 *
 * ```
 *   request ──▶ claim (underWay) ──▶ find what it affects ──▶ wake-ups ──▶ record: not before nextTime again
 *      └─ another round is at work, or was a moment ago: `waiting` ──▶ timer of the record ──▶ claim
 * ```
 */
import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import * as z from '../contract/zod.ts';
import { addDuration, seconds, toDurationMs, toEpochMs, type DurationMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { isNone, nextTurn, type NextTurn, type RoundState, type Scopes } from './next-round.ts';
import { DONE, settle, type Turn } from './settle.ts';
import type { Held, RecordCodec } from './record-codec.ts';
import { openRecord, written, type UsedWakeUp } from './timed-record.ts';

/** A round that dies is repeated after this long. */
const ROUND_SETTLES_AFTER = seconds(60);
/** Wake-ups a second, unless that takes longer than `LONGEST_SPREAD_SECONDS`. */
const WAKE_UPS_PER_SECOND = 50;
/** I5 allows five minutes. */
const LONGEST_SPREAD_SECONDS = 240;
/**
 * A run that others were faster than so often asks for everything: that holds what all of them ask for, so the first one to write it
 * serves the rest, which find nothing left to write. With a name each, one run a turn would get through.
 */
const LOST_BEFORE_ALL = 2;

export interface Round {
  readonly owner: FunctionName;
  /** Tells the rounds of one function apart. */
  readonly name: string;
  readonly spacing: DurationMs;
  /** What a change affects: only objects for which the answer may differ from before. Live reads. */
  readonly concerned: (scopes: Scopes) => Promise<readonly Subject[]>;
}

export interface Rounds {
  /** Something changed. @param scope undefined: it may concern everything */
  request(scope: string | undefined): Promise<void>;
  /** The timer of the record is due. */
  timerDue(wakeUp: UsedWakeUp): Promise<void>;
}

type Deps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/** Of the subject of a round's record: no object of the cluster. */
export const ROUND_KIND = 'Round';
const subjectOf = (name: string): Subject => ({ apiVersion: 'curfew.dev/v1alpha1', kind: ROUND_KIND, name });

/** Whether a wake-up with this subject is for these rounds. */
export const isRound = ({ kind, name }: Pick<Subject, 'kind' | 'name'>, round: string): boolean =>
  kind === ROUND_KIND && name === round;

/**
 * A round that fails throws; the timer of its record repeats it after `ROUND_SETTLES_AFTER`, unless the message comes
 * again before.
 */
export function createRounds(deps: Deps, round: Round): Rounds {
  const run = async (requested: Scopes, wakeUp?: UsedWakeUp): Promise<void> => {
    const claimed = await claim(deps, round, requested, wakeUp);
    if (claimed === undefined) return;
    const subjects = await round.concerned(claimed.underWay);
    const spread = await wake(deps, round.owner, subjects);
    await conclude(deps, round, claimed, spread);
  };
  return {
    request: scope => run(scope === undefined ? 'all' : [scope]),
    async timerDue(wakeUp) {
      if (await openRecord(deps, roundCodec(round.owner), recordId(round), wakeUp).isServed()) return;
      await run([], wakeUp);
    },
  };
}

/** Answers the state of the round that this run is to make; undefined: none, what was asked for is in the record. */
async function claim(
  deps: Deps,
  round: Round,
  requested: Scopes,
  wakeUp: UsedWakeUp | undefined,
): Promise<RoundState | undefined> {
  const record = openRecord(deps, roundCodec(round.owner), recordId(round), wakeUp);
  const subject = subjectOf(round.name);
  let claimed: RoundState | undefined;
  let asked = requested;
  let lost = 0;
  const save = async (wanted: Parameters<typeof record.save>[0]): Promise<Turn> => {
    const saved = await record.save(wanted);
    if (!saved.written) lost += 1;
    if (lost >= LOST_BEFORE_ALL && !isNone(requested)) asked = 'all';
    return written(saved);
  };
  await settle<Held<RoundState>, NextTurn>({
    what: `${round.owner} round ${round.name}`,
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: held => {
      if (held.kind === 'newer') return { kind: 'nothing' };
      const now = deps.clock.now();
      return held.kind === 'none'
        ? nextTurn(undefined, asked, now)
        : nextTurn({ ...held.value, armed: held.stored.nextWakeTime }, asked, now);
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
          const value = { waiting: [], underWay: turn.scopes, nextTime: addDuration(now, round.spacing) };
          const wakeTime = addDuration(now, ROUND_SETTLES_AFTER);
          const saved = await save({ subject, value, wakeTime, punctual: false });
          if (saved.kind === 'done') claimed = value;
          return saved;
        }
      }
    },
  });
  return claimed;
}

/** Answers how long the wake-ups take to arrive. */
async function wake({ wakeUps, clock }: Deps, owner: FunctionName, subjects: readonly Subject[]): Promise<DurationMs> {
  const perSecond = Math.max(WAKE_UPS_PER_SECOND, Math.ceil(subjects.length / LONGEST_SPREAD_SECONDS));
  const wakeTime = clock.now();
  const delayOf = (index: number): DurationMs => seconds(Math.floor(index / perSecond));
  await wakeUps.send(
    subjects.map((subject, index) => ({ wakeUp: { owner, subject, wakeTime }, delay: delayOf(index) })),
  );
  return delayOf(Math.max(0, subjects.length - 1));
}

/** The round is over. Another run that took it for dead has claimed it since: its timer counts. */
async function conclude(deps: Deps, round: Round, claimed: RoundState, spread: DurationMs): Promise<void> {
  const record = openRecord(deps, roundCodec(round.owner), recordId(round));
  await settle<Held<RoundState>, undefined>({
    what: `${round.owner} round ${round.name}`,
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind !== 'held' || isNone(held.value.underWay) || held.value.nextTime !== claimed.nextTime) return DONE;
      const nextTime = addDuration(deps.clock.now(), toDurationMs(Math.max(round.spacing, spread)));
      const value = { waiting: held.value.waiting, underWay: [], nextTime };
      return written(await record.save({ subject: subjectOf(round.name), value, wakeTime: nextTime }));
    },
  });
}

const recordId = ({ name }: Round): string => `round/${name}`;

const scopes = z.union([z.literal('all'), z.array(z.string())]);
const schema = z.object({ waiting: scopes, underWay: scopes, nextTime: z.number() });

/** How the record of a function's rounds is written down. */
export function roundCodec(owner: FunctionName): RecordCodec<RoundState> {
  return {
    owner,
    schemaVersion: 1,
    parse(state) {
      const { nextTime, ...rest } = schema.parse(state);
      return { ...rest, nextTime: toEpochMs(nextTime) };
    },
    toState: ({ waiting, underWay, nextTime }) =>
      schema.parse({
        waiting: waiting === 'all' ? waiting : [...waiting],
        underWay: underWay === 'all' ? underWay : [...underWay],
        nextTime,
      }),
  };
}
