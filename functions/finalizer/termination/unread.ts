/** Terminations whose NodeClaim or Node, or what they go by, cannot be read: noted in the record, and said (I6). */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject } from '../../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import {
  createBackoff,
  noteRefusedRead,
  reportWarning,
  type UnreadSubject,
} from '../../../shared/lifecycle/refusals.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { SubjectWakeUp } from '../../../shared/lifecycle/wake-up-route.ts';
import type { TerminationContext } from './context.ts';
import {
  EMPTY_TERMINATION,
  TERMINATION_CODEC,
  terminationRecordId,
  withWait,
  type TerminationRecord,
  type Wait,
} from './record.ts';
import { isLive, isManaged } from './rule/objects.ts';

type UnreadableSettings = Omit<Extract<Wait, { readonly kind: 'unreadable' }>, 'kind'>;

/** Notes that a NodeClaim or Node, or what its termination goes by, cannot be read. Throws the error where no record can keep it. */
export const noteUnread = (
  { reporter }: Pick<TerminationContext, 'reporter'>,
  error: Error,
  unread: Omit<UnreadSubject<TerminationRecord>, 'reportOf'>,
): Promise<void> =>
  noteRefusedRead(error, {
    ...unread,
    reportOf: subject => reportWarning(reporter, aboutSubject(subject), EVENT_REASONS.readRefused),
  });

/** Notes that nobody gets to see whose the Node is whose record has woken it. */
export const noteUnreadNode = (
  context: Pick<TerminationContext, 'deps' | 'reporter'>,
  error: Error,
  { subject: { uid = '' }, ...wakeUp }: SubjectWakeUp,
): Promise<void> =>
  noteUnread(context, error, {
    backoff: createBackoff(context.deps.clock),
    timedRecord: openRecord(context.deps, TERMINATION_CODEC, terminationRecordId('Node', uid), wakeUp),
    isRequest: false,
  });

/** The first record of an object whose settings cannot be found: whether anything of it is ours shows once they can. */
export const awaitedFirst = (
  { apiVersion, kind, metadata: { name, uid } }: KubernetesObject,
  unreadable: UnreadableSettings,
) => ({
  subject: { apiVersion, kind, name, uid },
  value: withWait(EMPTY_TERMINATION, { kind: 'unreadable', ...unreadable }),
});

/** The first record of an object whose deletion is told once; undefined: it lives, or nothing of it is ours. */
export const firstIfEnding = (object: KubernetesObject | undefined, unreadable: UnreadableSettings) =>
  object !== undefined && !isLive(object) && isManaged(object) ? awaitedFirst(object, unreadable) : undefined;
