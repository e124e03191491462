/**
 * Changes that are refused, for one subject: remembered in its record, said, tried ever less often (I5, I11). A refusal is an answer, not
 * a failure: it stops the one change, and nothing else of the subject.
 *
 * | cause | tried again | said |
 * |---|---|---|
 * | `request`: a schema, a policy or EC2 says no | after 1, 2, 4 … 60 min | at once, then hourly |
 * | `permission`: the verb on the whole kind | after 1 min | at once, then hourly |
 * | `passing`: 409, 429, 5xx, time-outs | by the queue, within seconds; after 5 min every 5 min | after 5 min, then hourly |
 *
 * At once when what the try rests on has changed, or a deadline comes. How a concern uses it:
 * ```ts
 * const tries = createTries(clock);                                    // one for each run
 * const outcome = await tries.make({ key, stored: record.refusals, restsOn: [object, settings], deadline, report }, change);
 * if (isRefusal(outcome)) {                                            // it was refused now, or waits since it was
 *   return record.save({ …, refusals: tries.after(value.refusals), wakeTime: outcome.until, goesBack: outcome.goesBack });
 * }
 * ```
 */
import { createHash } from 'node:crypto';
import { instant } from '../contract/instant.ts';
import * as z from '../contract/zod.ts';
import { cutText } from '../domain/cut-text.ts';
import { cutToBytes } from '../domain/printable.ts';
import { isJsonObject } from '../domain/json.ts';
import {
  retryNotBefore,
  isTransient,
  nextTry,
  noteRefusal,
  permissionIn,
  permissionOf,
  REFUSAL_CAUSES,
  textOfRefusal,
  type Refusal,
  type RefusalCause,
  type Refusals,
} from '../domain/refusal.ts';
import { addDuration, earliest, latest, minutes, type EpochMs } from '../domain/time.ts';
import { contended, OUT_OF_TIME, RetryableError, TerminalError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { OutOfSight } from '../ports/read-answer.ts';
import type { About, Reporter } from './reporter.ts';
import { MAX_TURNS } from './settle.ts';

/** Where a record keeps them. */
export const refusalsSchema = z.record(
  z.string(),
  z.object({
    cause: z.enum(REFUSAL_CAUSES),
    message: z.string(),
    basis: z.string(),
    count: z.int().check(z.positive()),
    firstTime: instant,
    lastTime: instant,
    saidTime: z.exactOptional(instant),
  }),
);

/** The outcome of a change that was not made. */
export interface Refused {
  readonly kind: 'refused';
  readonly message: string;
  /** When to look again. */
  readonly until: EpochMs;
  readonly error: Error;
  /** To be thrown once the record is written (`TimedRecord.save`): it may pass within seconds. */
  readonly goesBack: RetryableError | undefined;
}

/** When a subject of which several changes were refused is looked at again, and what goes back for all of them. */
export const joinRefusals = (refused: readonly Refused[]) => ({
  until: refused.map(({ until }) => until).reduce<EpochMs | undefined>(earliest, undefined),
  goesBack: refused.find(({ goesBack }) => goesBack !== undefined)?.goesBack,
});

export interface RefusableChange {
  /** Tells the changes of one subject apart. */
  readonly key: string;
  /** The refusals in its record. */
  readonly stored: Refusals | undefined;
  /** Objects, of which status and version do not count, and other values. */
  readonly restsOn: readonly unknown[];
  /** When it comes, the change is tried at once. */
  readonly deadline?: EpochMs | undefined;
  /** Refusals that may pass within minutes are reported at once, too. */
  readonly isReportedAtOnce?: boolean | undefined;
  /** How many bytes of the message are kept, where one subject has hundreds of changes. */
  readonly maxBytes?: number | undefined;
  /** Says it where somebody looks. undefined: it is not worth a word. @param isRepeated as in `Report` */
  readonly report?: ((text: string, isRepeated: boolean) => Promise<void>) | undefined;
}

/**
 * The tries of one run. A repeated turn does not repeat a call that was refused. `undefined`, `changed`, `conflict`, `again`: a lost race.
 * `onward`: partial progress. Neither of the two clears a remembered refusal. A run that loses many races counts as refused.
 */
export interface Tries {
  make<Outcome>(change: RefusableChange, call: () => Promise<Outcome>): Promise<Outcome | Refused>;
  /** The refusal that it waits for, for who has to prepare a try; undefined: it may be tried now. */
  waiting(change: Pick<RefusableChange, 'key' | 'stored' | 'restsOn' | 'deadline'>): Refused | undefined;
  /** Forgets a refusal: the object of the change is gone. */
  forget(key: string): void;
  /** The refusals to write into the record; undefined: none. */
  after(stored: Refusals | undefined): Refusals | undefined;
}

export const isRefusal = (outcome: unknown): outcome is Refused =>
  isJsonObject(outcome) && outcome['kind'] === 'refused' && 'goesBack' in outcome;

export function createTries(clock: Pick<Clock, 'now'>): Tries {
  const own = new Map<string, Refusal | undefined>();
  /** Verbs on whole kinds that this run has found allowed again: all changes that wait for one are tried. */
  const allowed = new Set<string>();
  let races = 0;
  const known = ({ key, stored }: Pick<RefusableChange, 'key' | 'stored'>): Refusal | undefined =>
    own.has(key) ? own.get(key) : stored?.[key];
  const waiting: Tries['waiting'] = ({ key, stored, restsOn, deadline }) => {
    const earlierRefusal = known({ key, stored });
    const permission = earlierRefusal && permissionOf(earlierRefusal);
    if (earlierRefusal === undefined || (permission !== undefined && allowed.has(permission))) return undefined;
    // One probe serves all changes of the subject.
    const others = permission === undefined ? [] : Object.values({ ...stored, ...Object.fromEntries(own) });
    const times = others.flatMap(each => (each && permissionOf(each) === permission ? [each.lastTime] : []));
    const lastTime = times.reduce((one, other) => latest(one, other), earlierRefusal.lastTime);
    const until = retryNotBefore(
      { ...earlierRefusal, lastTime },
      { basis: basisOf(restsOn), now: clock.now(), deadline },
    );
    if (until === undefined) return undefined;
    const { cause, message } = earlierRefusal;
    const error = cause === 'request' ? new TerminalError('Refused', message) : new RetryableError(message);
    return { kind: 'refused', message, until, error, goesBack: undefined };
  };
  const after: Tries['after'] = stored => {
    if (own.size === 0) return stored;
    const all = Object.entries<Refusal | undefined>({ ...stored, ...Object.fromEntries(own) });
    const kept = all.flatMap(([key, each]) => (each === undefined ? [] : [[key, each] as const]));
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  };
  return {
    waiting,
    after,
    forget: key => void own.set(key, undefined),
    async make(change, call) {
      const { key, stored, restsOn, deadline, isReportedAtOnce, maxBytes, report } = change;
      const earlierRefusal = known(change);
      const now = clock.now();
      const ahead = deadline !== undefined && deadline > now ? deadline : undefined;
      const refused = waiting(change);
      if (refused !== undefined) return refused;
      try {
        const outcome = await call();
        if (isLost(outcome) && ++races >= MAX_TURNS) throw contended('each change of it conflicts with another one');
        if (earlierRefusal !== undefined && !isLost(outcome) && !isOnward(outcome)) {
          own.set(key, undefined);
          allowed.add(permissionOf(earlierRefusal) ?? '');
        }
        return outcome;
      } catch (error) {
        const cause = causeOf(error);
        if (cause === undefined || !(error instanceof Error)) throw error;
        const message = keptText(error.message, maxBytes);
        const why = { cause, message, basis: basisOf(restsOn), now };
        const { refusal: next, reportKind: say } = noteRefusal(after(stored), key, why, report && { isReportedAtOnce });
        const isKept = next === earlierRefusal;
        // Said first: a run that dies in between says it again (I9).
        if (say === 'news' || say === 'again') await report?.(textOfRefusal(next), say === 'again');
        own.set(key, next);
        const goesBack = (isKept || isTransient(next)) && error instanceof RetryableError ? error : undefined;
        const until = earliest(isKept ? addDuration(now, minutes(1)) : nextTry(next), ahead);
        return { kind: 'refused', message, until, error, goesBack };
      }
    },
  };
}

/** Which verb and kind are not allowed is never cut off: all that wait for the same are tried together. */
function keptText(message: string, maxBytes: number | undefined): string {
  const kept = maxBytes === undefined ? cutText(message) : cutToBytes(message, maxBytes);
  const permission = permissionIn(message);
  return permission === undefined || kept.includes(permission) ? kept : permission;
}

const LOST: readonly unknown[] = ['changed', 'conflict', 'again'];
/** Somebody else had changed the object or the record, or it is looked at once more: nothing was made, and nothing refused. */
const isLost = (outcome: unknown): boolean =>
  outcome === undefined || LOST.includes(isJsonObject(outcome) ? outcome['kind'] : outcome);
/** A step that carried out one of several things, or lost a race for one. */
const isOnward = (outcome: unknown): boolean => isJsonObject(outcome) && outcome['onward'] === true;

/** As a change says it: a Warning Event and an audit line. */
export const reportWarning =
  (reporter: Reporter, about: About, reason: string, decision = 'wait'): NonNullable<RefusableChange['report']> =>
  (message, isRepeated) =>
    reporter.report({ about, decision, reason, message, isRepeated, event: { type: 'Warning' } });

/** undefined: no refusal, and whatever it is goes up. */
export function causeOf(error: unknown): RefusalCause | undefined {
  if (error instanceof TerminalError) return 'request';
  if (!(error instanceof RetryableError) || error instanceof OutOfSight || error.reason === OUT_OF_TIME) return;
  if (error.isForbidden) return 'permission';
  if (error.reason !== 'Forbidden') return 'passing';
  return permissionIn(error.message) === undefined ? 'request' : 'permission';
}

const BASIS_CHARS = 16;

/** The hash of `RefusableChange.restsOn`, for a rule that asks `retryNotBefore` by itself. */
export function basisOf(values: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(values.map(withoutStatus)))
    .digest('hex')
    .slice(0, BASIS_CHARS);
}

/** Heartbeats and what we write into the status change nothing of an object that somebody could mean. */
function withoutStatus(value: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return value ?? null;
  const { status: _, metadata, ...fields } = value;
  const { resourceVersion: __, managedFields: ___, generation: ____, ...named } = metadata as Record<string, unknown>;
  return { ...fields, metadata: named };
}
