/**
 * The record of reservations for `repairLimits`: one for each repair in flight, over all pools. It is kept up here: what no
 * pool has in flight any more goes. `reservations.ts` is how a pass works with them. While no policy states a limit, the
 * record is not even read.
 */
import { OWNER } from './common/context.ts';
import { POOL_CODEC, poolRecordId } from './record.ts';
import type { PoolRecord } from './pool-record.ts';
import { instant } from '../../shared/contract/instant.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import * as z from '../../shared/contract/zod.ts';
import { fieldsOf, listIn } from '../../shared/domain/json.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, hours, isDue } from '../../shared/domain/time.ts';
import { ROUND_KIND } from '../../shared/lifecycle/coalesce.ts';
import { checkedCodec, type RecordCodec, storedUnder } from '../../shared/lifecycle/record-codec.ts';
import { DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import { doneIfWritten, openRecord, type TimedRecord, updateRecord } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

const reservation = z.object({
  uid: z.string(),
  zone: z.exactOptional(z.string()),
  /** The pool of the node; undefined: the nodes without a NodePool. */
  pool: z.exactOptional(z.string()),
  since: instant,
});

/** The slot of a node whose repair is in flight, or about to be. */
export type Reservation = Readonly<z.output<typeof reservation>>;

const schema = z.object({ policyGenerations: z.string(), reservations: z.array(reservation) });

export type Reservations = Readonly<z.output<typeof schema>>;

/** The state without reservations of mode `Observe`, which earlier versions made and which limit nothing. */
const withoutObserved = (state: JsonObject): JsonObject => ({
  ...state,
  reservations: listIn(state, 'reservations').filter(each => fieldsOf(each)['observed'] !== true),
});

export const RESERVATIONS_CODEC: RecordCodec<Reservations> = storedUnder(
  { policyGenerations: 'basis' },
  checkedCodec(OWNER, schema, 2, withoutObserved),
);

/** The time by which the run that made a reservation is over. */
export const runOverTime = (since: EpochMs): EpochMs => addDuration(since, RUN_ENDS_WITHIN);

export const RESERVATIONS_ID = 'concurrent-repairs';

const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: ROUND_KIND, name: RESERVATIONS_ID };
/** Whether a wake-up with this subject is about the reservations. */
export const isReservations = ({ kind, name }: Subject): boolean => kind === ROUND_KIND && name === RESERVATIONS_ID;

/** A record that nobody writes is looked at after this long. */
const CHECK = hours(1);

export const RESERVATIONS = 'the reservations of repairs';

export type ReservationDeps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

/**
 * Reads the nodes that the pool has in flight: since when, by UID. `newer`: a later version of this function keeps the
 * pool.
 */
export async function loadInFlight(
  deps: ReservationDeps,
  pool: string | undefined,
): Promise<PoolRecord['inFlight'] | 'newer'> {
  const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(pool)).load();
  if (loaded.kind === 'newer') return loaded.kind;
  return loaded.kind === 'known' ? loaded.value.inFlight : {};
}

/** Gives back the slots of repairs that the pool no longer has in flight, after a pass that needed no limits. */
export const giveBack = (
  deps: ReservationDeps,
  pool: string | undefined,
  own: Pick<PoolRecord, 'inFlight'>,
): Promise<void> =>
  keepReservations(deps, async all => all.filter(({ pool: other, uid }) => other !== pool || uid in own.inFlight));

/** Drops reservations that no pool has in flight any more, and arms the record's timer again. */
export const checkReservations = (deps: ReservationDeps): Promise<void> =>
  keepReservations(
    deps,
    async all => {
      const now = deps.clock.now();
      const kept: Reservation[] = [];
      for (const [name, own] of Map.groupBy(all, each => each.pool)) {
        const inFlight = await loadInFlight(deps, name);
        const isKept = ({ uid, since }: Reservation): boolean =>
          inFlight === 'newer' || uid in inFlight || !isDue(now, runOverTime(since));
        kept.push(...own.filter(isKept));
      }
      return kept;
    },
    { isTimer: true },
  );

/** Keeps some reservations of the record, which ends with the last one. */
async function keepReservations(
  deps: ReservationDeps,
  choose: (all: readonly Reservation[]) => Promise<readonly Reservation[]>,
  { isTimer = false }: { readonly isTimer?: boolean } = {},
): Promise<void> {
  const timedRecord = openRecord(deps, RESERVATIONS_CODEC, RESERVATIONS_ID);
  await updateRecord(RESERVATIONS, timedRecord, async loaded => {
    if (loaded.kind !== 'known') return DONE;
    const { policyGenerations, reservations } = loaded.value;
    const kept = await choose(reservations);
    const isSame = kept.length > 0 && kept.length === reservations.length;
    return isSame && !isTimer
      ? DONE
      : writeReservations(deps, timedRecord, { policyGenerations, reservations: [...kept] });
  });
}

/** Writes the reservations with the time of the next look; the record ends with the last one. */
export async function writeReservations(
  { clock }: Pick<ReservationDeps, 'clock'>,
  timedRecord: TimedRecord<Reservations>,
  value: Reservations,
): Promise<Turn> {
  if (value.reservations.length === 0) return timedRecord.closeNow();
  const wakeTime = addDuration(clock.now(), CHECK);
  return doneIfWritten(await timedRecord.save({ subject: SUBJECT, value, wakeTime, hasOwnMessage: false }));
}
