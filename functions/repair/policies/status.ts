/**
 * Keeps the status of the NodeLifecyclePolicies: one record for all of them says when it was looked at last. Whatever may change a status
 * asks for a look; looks are apart from each other, and only what differs is written. Without a policy there is no record and no look.
 */
import type { Subject } from '../../../shared/contract/subject.ts';
import * as z from '../../../shared/contract/zod.ts';
import {
  addDuration,
  hours,
  isDue,
  seconds,
  toEpochMs,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { REFUSED_CHECK } from '../../../shared/lifecycle/refused.ts';
import { again, DONE, settle } from '../../../shared/lifecycle/settle.ts';
import {
  openRecord,
  written,
  type Held,
  type RecordCodec,
  type UsedWakeUp,
} from '../../../shared/lifecycle/timed-record.ts';
import { OWNER } from '../record.ts';
import { writeStatuses, type Refused, type StatusDeps as Deps } from './write-status.ts';

interface StatusRecord {
  /** When the latest look began. */
  readonly lookTime: EpochMs;
  /** It has not ended yet. */
  readonly underWay?: true | undefined;
  /** What was said of statuses that are refused. */
  readonly refused?: Refused | undefined;
}

const schema = z.object({
  lookTime: z.number(),
  underWay: z.exactOptional(z.literal(true)),
  refused: z.exactOptional(z.record(z.string(), z.string())),
});
export const statusCodec: RecordCodec<StatusRecord> = {
  owner: OWNER,
  schemaVersion: 1,
  parse(state) {
    const { lookTime, ...rest } = schema.parse(state);
    return { lookTime: toEpochMs(lookTime), ...rest };
  },
  toState: ({ lookTime, underWay, refused }) => ({
    lookTime,
    ...(underWay && { underWay }),
    ...(refused && Object.keys(refused).length > 0 && { refused }),
  }),
};
const RECORD_ID = 'policy-status';

/** A name that no policy can have. */
const ALL = '*';
const SUBJECT: Subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: ALL };
export const isAllPolicies = ({ name }: Pick<Subject, 'name'>): boolean => name === ALL;

/** Looks because nodes or repairs changed are this far apart. */
export const STATUS_SPACING = seconds(30);
/** Looks because somebody edited a policy. */
const EDIT_SPACING = seconds(1);
/** A change without a message is noticed after this long. */
const CHECK = hours(1);
/** A look that dies is repeated after this long. */
const LOOK_SETTLES_AFTER = seconds(60);

/** A policy was added, edited or removed. */
export const policyChanged = (deps: Deps): Promise<void> => request(deps, EDIT_SPACING, true);
/** Pools, nodes, repairs or the gate changed. */
export const surroundingsChanged = (deps: Deps): Promise<void> => request(deps, STATUS_SPACING, false);
/** The timer is due. */
export const statusDue = (deps: Deps, wakeUp: UsedWakeUp): Promise<void> => request(deps, EDIT_SPACING, false, wakeUp);

async function request(deps: Deps, spacing: DurationMs, creates: boolean, wakeUp?: UsedWakeUp): Promise<void> {
  let claimed: { readonly said: Refused } | undefined;
  const record = openRecord(deps, statusCodec, RECORD_ID, wakeUp);
  await settle<Held<StatusRecord>, undefined>({
    what: 'the status of the policies',
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind === 'newer' || (held.kind === 'none' && !creates)) return DONE;
      const now = deps.clock.now();
      const next = held.kind === 'held' ? addDuration(held.value.lookTime, spacing) : now;
      const armed = held.kind === 'held' ? held.stored.nextWakeTime : undefined;
      if (!isDue(now, next)) {
        if (held.kind !== 'held' || (armed !== undefined && armed <= next)) return DONE;
        const saved = await record.save({ subject: SUBJECT, value: held.value, wakeTime: next });
        return written(saved);
      }
      const wakeTime = addDuration(now, LOOK_SETTLES_AFTER);
      const said = (held.kind === 'held' ? held.value.refused : undefined) ?? {};
      const saved = await record.save({
        subject: SUBJECT,
        value: { lookTime: now, underWay: true, refused: said },
        wakeTime,
        punctual: false,
      });
      claimed = saved.written ? { said } : undefined;
      return written(saved);
    },
  });
  if (claimed === undefined) return;
  const refused = await writeStatuses(deps, claimed.said);
  await settle<Held<StatusRecord>, undefined>({
    what: 'the status of the policies',
    observe: async () => ({ kind: 'here', observation: await record.load() }),
    decide: () => undefined,
    async apply(_, held) {
      if (held.kind !== 'held') return DONE;
      if (refused === undefined) return record.release();
      const { lookTime } = held.value;
      const { nextWakeTime } = held.stored;
      // Somebody asked for another look meanwhile.
      const isAsked = nextWakeTime !== undefined && nextWakeTime < addDuration(lookTime, LOOK_SETTLES_AFTER);
      const isRefused = Object.keys(refused).length > 0;
      if (isAsked && !isRefused && held.value.refused === undefined) return DONE;
      const check = isRefused ? REFUSED_CHECK : CHECK;
      const wakeTime = isAsked ? nextWakeTime : addDuration(deps.clock.now(), check);
      const saved = await record.save({ subject: SUBJECT, value: { lookTime, refused }, wakeTime });
      return saved.written ? DONE : again('another run wrote first');
    },
  });
}
